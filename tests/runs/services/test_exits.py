"""One record of the ends of many nodes."""

import itertools
import json

import pytest

from runs.services import exits
from tests.factories import make_attempt
from tests.runs.ingest.posting import post


def record(outcome: str, rank: int, ended_at: str = "2026-01-01T00:00:00") -> dict:
    ranks = {str(rank): {"exit_code": 0, "signal": None, "error": None}}
    told = {"outcome": outcome, "ended_at": ended_at, "message": f"Rank {rank} {outcome}."}
    return {"v": 1, "ranks": ranks} | told


def test_one_node_is_its_own_record():
    assert exits.merged({}, record("failed", 0), node=0) == record("failed", 0)


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
def test_the_node_that_ended_worst_and_first_speaks_for_all_in_any_order(order):
    told = [
        record("finished", 0, "2026-01-01T00:00:01"),
        record("failed", 1, "2026-01-01T00:00:03"),
        record("failed", 2, "2026-01-01T00:00:02"),
    ]
    found: dict = {}
    for node in order:
        found = exits.merged(found, told[node], node=node)
    assert (found["outcome"], found["message"]) == ("failed", "Rank 2 failed.")
    assert sorted(found["ranks"]) == ["0", "1", "2"]
    assert found["nodes"] == {"0": "finished", "1": "failed", "2": "failed"}


def test_a_node_that_repeats_itself_changes_nothing():
    once = exits.merged(record("finished", 0), record("stopped", 1), node=1)
    assert exits.merged(once, record("stopped", 1), node=1) == once


@pytest.mark.django_db
def test_every_node_may_tell_its_end():
    attempt = make_attempt(state="running")
    for node, outcome in enumerate(["finished", "failed"]):
        body = {"v": 1, "exit": record(outcome, node), "node": node}
        assert post(attempt, json.dumps(body).encode(), "ingest/exit").status_code == 200
    attempt.refresh_from_db()
    assert attempt.exit["outcome"] == "failed"
    assert sorted(attempt.exit["ranks"]) == ["0", "1"]
    bad = {"v": 1, "exit": {}, "node": -1}
    assert post(attempt, json.dumps(bad).encode(), "ingest/exit").status_code == 400
