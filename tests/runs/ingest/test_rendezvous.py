"""Where the nodes of an attempt meet: told by one, asked by the others."""

import json
from typing import Any

import pytest

from runs.models import Attempt, Event
from runs.services import attempts
from tests.factories import make_attempt
from tests.runs.ingest.posting import post, strict

pytestmark = pytest.mark.django_db


@pytest.fixture
def attempt() -> Attempt:
    return make_attempt(state="running")


def ask(attempt: Attempt, **told: Any) -> Any:
    return post(attempt, json.dumps({"v": 1} | told).encode(), "ingest/rendezvous")


def test_the_others_ask_until_node_0_has_told(attempt: Attempt) -> None:
    assert strict(ask(attempt).content) == {"v": 1}
    told = {"v": 1, "address": "10.1.2.3", "port": 29500}
    assert strict(ask(attempt, address="10.1.2.3", port=29500).content) == told
    assert strict(ask(attempt, address="10.1.2.3", port=29500).content) == told
    assert strict(ask(attempt).content) == told
    assert Event.objects.get(kind="rendezvous").message == "The nodes meet at 10.1.2.3, port 29500."


def test_attempts_do_not_meet_each_other(attempt: Attempt) -> None:
    ask(attempt, address="10.1.2.3", port=29500)
    attempts.end_attempt(attempt=attempt, outcome="failed", reason="x")
    assert strict(ask(make_attempt(run=attempt.run, state="running")).content) == {"v": 1}


@pytest.mark.parametrize(
    ("told", "words"),
    [
        ({"address": "", "port": 1}, "address"),
        ({"address": "a b", "port": 1}, "address"),
        ({"address": "a\x00", "port": 1}, "address"),
        ({"address": 3, "port": 1}, "address"),
        ({"address": "a", "port": 0}, "port"),
        ({"address": "a", "port": 65536}, "port"),
        ({"address": "a", "port": True}, "port"),
        ({"address": "a"}, "port"),
    ],
)
def test_what_is_no_place_is_refused(attempt: Attempt, told: dict[str, Any], words: str) -> None:
    response = ask(attempt, **told)
    assert response.status_code == 422
    assert words in strict(response.content)["detail"]


def test_an_attempt_that_ended_meets_no_more(attempt: Attempt) -> None:
    attempts.end_attempt(attempt=attempt, outcome="failed", reason="x")
    assert ask(attempt, address="10.1.2.3", port=29500).status_code == 409


def test_only_the_token_of_the_attempt_is_taken(attempt: Attempt) -> None:
    body = json.dumps({"v": 1}).encode()
    assert post(attempt, body, "ingest/rendezvous", Authorization="Bearer x").status_code == 401
