import numpy as np
import pytest

from controlplane.common.models import Project
from runs.models import Run
from runs.services import events, ingest, metrics
from safehold.wire import Column
from tests.factories import make_attempt, make_run
from tests.runs.api.callers import Api
from tests.runs.ingest.posting import make_batch, strict


@pytest.fixture
def pair(project: Project) -> list[Run]:
    runs = [make_run(project=project, name=name) for name in ("first", "second")]
    for run, losses in zip(runs, ([3.0, 2.0], [4.0, np.inf]), strict=True):
        columns = (Column("train/loss", None, np.array(losses)),)
        ingest.store_batch(attempt=make_attempt(run=run), batch=make_batch(2, columns=columns))
    return runs


def test_runs_are_compared_in_one_answer(viewer: Api, pair: list[Run]) -> None:
    ids = [run.pk for run in pair]
    answer = viewer.get("comparison", run=ids, names=["train/loss"], x="step")
    document = strict(answer.content)
    assert [run["name"] for run in document["runs"]] == ["first", "second"]
    assert [chart["run"] for chart in document["charts"]] == ids
    assert document["step"] == 2
    assert [one["final"] for one in document["results"]] == [2.0, "Infinity"]
    assert [(diff["a"], diff["b"]) for diff in document["diffs"]] == [
        (pair[0].config_id, pair[1].config_id)
    ]


def test_looking_beyond_the_end_of_one_run_keeps_the_axis_of_all(
    viewer: Api, project: Project
) -> None:
    runs = [make_run(project=project) for _ in range(2)]
    for run, num in zip(runs, (10, 100), strict=True):
        attempt = make_attempt(run=run)
        ingest.store_batch(attempt=attempt, batch=make_batch(num))
        metrics.compact_attempt(attempt.pk)
    asked = {"run": [run.pk for run in runs], "names": ["train/loss"], "from": 5000, "to": 6000}
    document = viewer.get("comparison", **asked).json()
    short, long = (chart["series"][0]["parts"] for chart in document["charts"])
    assert document["x"] == "tokens"
    assert short == []
    assert long[0]["x"] == list(range(5000, 6001, 100))


def test_runs_of_others_are_left_out(outsider: Api, pair: list[Run]) -> None:
    document = outsider.get("comparison", run=[run.pk for run in pair], names=["train/loss"]).json()
    assert (document["runs"], document["charts"], document["results"]) == ([], [], [])


def test_a_value_that_was_logged_long_before_the_step_is_found(
    viewer: Api, project: Project
) -> None:
    run = make_run(project=project)
    columns = (Column("val/loss", None, np.array([9.0, 5.0, 1.0])),)
    steps = np.array([1, 2, 900_000])
    ingest.store_batch(
        attempt=make_attempt(run=run), batch=make_batch(3, steps=steps, columns=columns)
    )
    asked = {"run": run.pk, "names": ["val/loss"], "x": "step", "step": 500_000}
    (result,) = viewer.get("comparison", **asked).json()["results"]
    assert (result["at_step"], result["final"], result["least"]) == (5.0, 1.0, 1.0)


def test_a_comparison_names_its_faults(viewer: Api, pair: list[Run]) -> None:
    assert viewer.get("comparison").status_code == 422
    refused = viewer.get("comparison", run=pair[0].pk, names=["a"], points=1)
    assert refused.json()["errors"][0]["field"] == "points"


def test_flags_are_told(viewer: Api, pair: list[Run]) -> None:
    run = pair[0]
    events.record(run=run, kind="alert", message="The loss jumped.", data={"step": 2})
    (flag,) = viewer.get(f"runs/{run.pk}/flags").json()["flags"]
    assert (flag["kind"], flag["step"], flag["text"]) == ("alert", 2, "The loss jumped.")


def test_a_rank_that_cannot_be_is_refused(viewer: Api, pair: list[Run]) -> None:
    path = f"runs/{pair[0].pk}/metrics"
    assert viewer.get(path, names=["train/loss"], rank=-1).status_code == 422
    assert viewer.get(path, names=["train/loss"], rank=0).json()["series"][0]["parts"]
