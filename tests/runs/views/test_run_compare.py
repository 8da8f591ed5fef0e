import json
from typing import Any

import numpy as np
import pytest

from runs.models import Run
from runs.services import ingest
from safehold.wire import Column
from tests.factories import make_attempt, make_config, make_run
from tests.runs.ingest.posting import make_batch
from tests.runs.views.people import People


def a_run(people: People, name: str, losses: list[float], lr: float = 1e-3) -> Run:
    document = {"schema_version": 1, "name": name, "train": {"steps": 100}, "optimizer": {"lr": lr}}
    config = make_config(project=people.project, created_by=people.operator_user, document=document)
    run = make_run(config=config, name=name)
    columns = (Column("train/loss", None, np.array(losses)),)
    ingest.store_batch(
        attempt=make_attempt(run=run), batch=make_batch(len(losses), columns=columns)
    )
    run.refresh_from_db()
    return run


@pytest.fixture
def pair(people: People) -> list[Run]:
    return [
        a_run(people, "broad-net", [3.0, 2.0, 1.0, 1.5]),
        a_run(people, "tall", [4.0, float("nan"), 2.5], lr=1e-4),
    ]


def query(runs: list[Run], **more: Any) -> str:
    return "&".join([f"run={run.pk}" for run in runs] + [f"{k}={v}" for k, v in more.items()])


def test_runs_stand_beside_each_other_with_the_verdict(people: People, pair: list[Run]) -> None:
    page = people.viewer.get(f"/runs/compare/?{query(pair)}").content.decode()
    assert "2 runs compared" in page
    assert 'data-verdict="1"' in page
    assert "optimizer.lr" in page
    assert page.index(">broad-net<") < page.index(">tall<")


def test_two_changed_variables_cannot_be_told_apart(people: People, pair: list[Run]) -> None:
    config = pair[1].config
    config.document["train"]["steps"] = 50
    config.save()
    page = people.viewer.get(f"/runs/compare/?{query(pair)}").content.decode()
    assert 'data-verdict="2"' in page
    assert "cannot be laid to a single one" in page


@pytest.mark.parametrize("chosen", [0, 1])
def test_fewer_than_two_runs_say_how_to_choose(
    people: People, pair: list[Run], chosen: int
) -> None:
    page = people.viewer.get(f"/runs/compare/?{query(pair[:chosen])}&run=x").content.decode()
    assert "Choose two runs or more" in page


def test_runs_of_others_are_left_out(people: People, pair: list[Run]) -> None:
    page = people.outsider.get(f"/runs/compare/?{query(pair)}").content.decode()
    assert "broad-net" not in page
    charts = people.outsider.get(f"/runs/compare/metrics.json?{query(pair, names='train/loss')}")
    assert charts.json()["charts"] == []


def test_results_tell_the_last_the_smallest_and_the_value_at_a_step(
    people: People, pair: list[Run]
) -> None:
    answer = people.viewer.get(f"/runs/compare/summary/?{query(pair, step=2)}")
    (_, [wide]), (_, [tall]) = answer.context["lines"]
    assert (wide.final, wide.least, wide.least_step, wide.at_step) == (1.5, 1.0, 3, 2.0)
    assert (tall.final, tall.least, tall.least_step) == (2.5, 2.5, 3)
    assert np.isnan(tall.at_step)


def test_curves_share_one_axis(people: People, pair: list[Run]) -> None:
    asked = query(pair, names="train/loss", x="time")
    answer = people.viewer.get(f"/runs/compare/metrics.json?{asked}")
    document = json.loads(answer.content, parse_constant=pytest.fail)
    assert document["x"] == "time"
    assert [chart["run"] for chart in document["charts"]] == [run.pk for run in pair]
    begun = pair[0].attempts.get().requested_at.timestamp() * 1000
    (part,) = document["charts"][0]["series"][0]["parts"]
    assert part["x"][0] + begun == pytest.approx(1_764_000_000_001, abs=1)


def test_the_page_costs_the_same_for_many_runs(
    people: People, pair: list[Run], django_assert_max_num_queries: Any
) -> None:
    many = pair + [a_run(people, f"run-{number}", [1.0, 2.0]) for number in range(8)]
    with django_assert_max_num_queries(8):
        people.viewer.get(f"/runs/compare/?{query(many)}")
