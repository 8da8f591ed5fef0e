import json

import numpy as np
import pytest

from runs.services import ingest
from safehold.wire import Column
from tests.factories import make_attempt, make_run
from tests.runs.ingest.posting import make_batch
from tests.runs.views.people import People


@pytest.fixture
def run_id(people: People) -> int:
    run = make_run(project=people.project, created_by=people.operator_user)
    attempt = make_attempt(run=run)
    columns = (
        Column("train/loss", None, np.array([3.0, np.nan, 2.0])),
        Column("a, b & <c>/名", None, np.array([1.0, 2.0, 3.0])),
    )
    ingest.store_batch(attempt=attempt, batch=make_batch(3, columns=columns))
    return run.pk


def test_a_chart_is_strict_json_with_marks_for_what_is_not_finite(
    people: People, run_id: int
) -> None:
    answer = people.viewer.get(f"/runs/{run_id}/metrics.json", {"names": "train/loss", "x": "step"})
    (series,) = json.loads(answer.content, parse_constant=pytest.fail)["series"]
    (part,) = series["parts"]
    assert part["values"] == [3.0, 2.0]
    assert [mark["value"] for mark in part["marks"]] == ["NaN"]


def test_a_name_may_hold_anything(people: People, run_id: int) -> None:
    answer = people.viewer.get(f"/runs/{run_id}/metrics.json", {"names": "a, b & <c>/名"})
    assert answer.json()["series"][0]["num_points"] == 3
    page = people.viewer.get(f"/runs/{run_id}/").content.decode()
    assert "&lt;c&gt;" in page
    assert "<c>" not in page


@pytest.mark.parametrize(
    "query", ["names=%00", "x=nonsense", "points=1", "from=abc&to=", "points=99999999"]
)
def test_an_odd_question_is_answered_all_the_same(people: People, run_id: int, query: str) -> None:
    assert people.viewer.get(f"/runs/{run_id}/metrics.json?{query}").status_code == 200


def test_an_outsider_gets_no_point(people: People, run_id: int) -> None:
    assert people.outsider.get(f"/runs/{run_id}/metrics.json").status_code == 404
