"""The metrics cases MET-01 to MET-07, sent over HTTP as JSON senders do."""

import json
from datetime import UTC, datetime

import orjson
import pytest
import time_machine

from runs.metricstore import compaction
from runs.models import Attempt, MetricBatch
from runs.services import metrics
from tests.factories import make_attempt, make_run
from tests.runs.ingest.posting import CASES, case, chart, post, post_case, shown, strict

pytestmark = pytest.mark.django_db
both_stores = pytest.mark.parametrize("compacted", [False, True], ids=["tail", "chunks"])


@pytest.fixture
def attempt() -> Attempt:
    return make_attempt(state="running")


def settle(attempt: Attempt, compacted: bool) -> None:
    if compacted:
        compaction.compact_attempt(attempt.pk)
        assert not MetricBatch.objects.filter(attempt=attempt).exists()


@both_stores
def test_not_finite_values_are_stored_as_such_and_never_as_zero(
    attempt: Attempt, compacted: bool
) -> None:
    answer = post_case(attempt, "nan_batch.json")
    settle(attempt, compacted)
    assert (answer["records"], answer["stored"]) == (5, 4)
    assert answer["refused"] == [{"i": 3, "name": "loss", "reason": "value is null"}]
    series = chart(attempt, "loss")
    assert shown(series) == {100: 2.31, 101: "NaN", 102: "NaN", 104: 2.29}
    assert (series["num_points"], series["num_not_finite"]) == (4, 2)
    assert series["last"] == {"attempt": 1, "rank": 0, "step": 104, "value": 2.29}


@both_stores
def test_repeated_and_overlapping_batches_add_only_what_is_new(
    attempt: Attempt, compacted: bool
) -> None:
    first, second = "retry_first.json", "retry_with_one_more_point.json"
    answers = [post_case(attempt, name) for name in (first, first, second)]
    settle(attempt, compacted)
    assert [answer["stored"] for answer in answers] == [160, 0, 1]
    assert [answer["acked"] for answer in answers] == [166, 166, 167]
    names = metrics.list_names(attempt.run)
    assert sum(chart(attempt, name)["num_points"] for name in names) == 161


@both_stores
def test_the_newest_attempt_wins_where_steps_come_twice(compacted: bool) -> None:
    run = make_run()
    text = (CASES / "rewind_after_resume.jsonl").read_text()
    lines = [json.loads(line) for line in text.splitlines()]
    attempts = {}
    for number in (1, 2):
        attempts[number] = make_attempt(run=run, number=number, state="running")
        for line in lines:
            if line.get("attempt") == number:
                assert post(attempts[number], orjson.dumps(line | {"v": 1})).status_code == 200
        settle(attempts[number], compacted)
        Attempt.objects.filter(pk=attempts[number].pk).update(
            state="ended", outcome="failed", ended_at=datetime.now(UTC)
        )
    series = chart(attempts[2], "loss")
    assert series["num_points"] == 63
    assert sorted(shown(series)) == list(range(180, 231))
    standing = [
        (part["attempt"], min(part["steps"]), max(part["steps"]))
        for part in series["parts"]
        if not part["superseded"]
    ]
    assert standing == [(1, 180, 200), (2, 201, 230)]
    assert sorted(shown(series, superseded=True)) == list(range(201, 213))


@both_stores
def test_every_name_is_kept_as_it_is(attempt: Attempt, compacted: bool) -> None:
    answer = post_case(attempt, "names.json")
    settle(attempt, compacted)
    points = json.loads(case("names.json"))["points"]
    assert (answer["stored"], answer["refused"]) == (10, [])
    assert metrics.list_names(attempt.run) == sorted(point["name"] for point in points)
    for point in points:
        assert shown(chart(attempt, point["name"])) == {1: point["value"]}


def test_a_wrong_clock_hides_nothing_and_is_flagged() -> None:
    document = json.loads((CASES / "clock_skew.json").read_text())
    now = datetime.fromtimestamp(document["server_now_ms"] / 1000, UTC)
    sides = []
    with time_machine.travel(now, tick=False):
        for body in document["batches"]:
            attempt = make_attempt(state="running")
            assert post(attempt, orjson.dumps(body | {"v": 1})).status_code == 200
            attempt.refresh_from_db()
            attempt.run.refresh_from_db()
            assert attempt.last_seen_at == attempt.run.last_point_at == now
            stored = MetricBatch.objects.get(attempt=attempt)
            assert stored.received_at == now
            by_time = chart(attempt, "loss", x="time")
            assert len(shown(by_time)) == 5
            [event] = attempt.events.filter(kind="clock_skew")
            sides.append((round(attempt.clock_skew_seconds), event.message))
            sent = [point["ts"] for point in body["points"]]
            skewed = [
                x + round(attempt.clock_skew_seconds * 1000) for x in by_time["parts"][0]["x"]
            ]
            assert skewed == sent
    assert sides == [
        (7205, "The sender's clock is 2:00:05 ahead of ours."),
        (-86395, "The sender's clock is 23:59:55 behind ours."),
    ]


def test_a_step_is_a_whole_number_of_64_bits_and_judged_by_itself(attempt: Attempt) -> None:
    answer = post_case(attempt, "step_types.json")
    refused = {each["i"]: each["reason"] for each in answer["refused"]}
    assert sorted(refused) == [4, 5, 7, 8, 9, 10]
    assert all(reason.startswith("step must be") for reason in refused.values())
    compaction.compact_attempt(attempt.pk)
    assert shown(chart(attempt, "loss")) == {
        0: 1.0, 3: 7.0, 1000: 12.0, 2147483648: 2.0,
        "9007199254740993": 3.0, "9223372036854775807": 4.0,
    }  # fmt: skip


def test_a_body_that_is_no_message_is_told_by_field(attempt: Attempt) -> None:
    response = post(attempt, b'{"v": 1, "first_seq": 1, "points": {}}')
    problem = strict(response.content)
    assert response.status_code == 400
    assert response["Content-Type"] == "application/problem+json"
    assert (problem["type"], problem["field"]) == ("urn:safehold:problem:wire", "points")
