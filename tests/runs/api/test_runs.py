from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from controlplane.common.models import Project
from runs.models import Run
from runs.services import logs
from safehold.cli import run_acts
from tests.factories import make_attempt, make_run
from tests.runs.api.callers import Api

Document = Callable[..., dict[str, Any]]


@pytest.fixture
def run_id(operator: Api, document: Document) -> int:
    config = operator.post("configs", {"document": document()}).json()["id"]
    return int(operator.post("runs", {"config": config}).json()["id"])


def test_a_new_run_is_a_draft(operator: Api, run_id: int) -> None:
    run = operator.get(f"runs/{run_id}").json()
    assert (run["state"], run["acts"], run["attempts"]) == ("draft", ["launch"], [])
    assert (run["name"], run["total_steps"], run["step"]) == ("small", 20, None)


def test_a_cursor_of_another_order_is_no_place_in_this_one(operator: Api, project: Project) -> None:
    for name in "abc":
        make_run(project=project, name=name)
    following = operator.get("runs?limit=1").json()["next"]
    assert [one["name"] for one in operator.get(f"runs?cursor={following}").json()["items"]] == ["b", "a"]  # fmt: skip
    for order in ("oldest", "name", "loss", "activity"):
        refused = operator.get(f"runs?order={order}&cursor={following}")
        assert (refused.status_code, refused.json()["errors"][0]["field"]) == (422, "cursor")


def test_a_launch_asks_for_an_attempt(operator: Api, run_id: int) -> None:
    answer = operator.post(f"runs/{run_id}/launch")
    assert answer.status_code == 202
    assert answer.json()["state"] == "queued"
    assert [one["number"] for one in answer.json()["attempts"]] == [1]
    assert operator.post(f"runs/{run_id}/launch").json()["attempts"] == answer.json()["attempts"]


def test_a_launch_that_cannot_work_is_refused_by_field(
    operator: Api, document: Document, tmp_path: Path
) -> None:
    with (tmp_path / "corpus/a.jsonl").open("a") as shard:
        shard.write('{"text": "cut')
    config = operator.post(
        "configs", {"document": document(tokenizer__digest="blake3:" + "0" * 64)}
    ).json()["id"]
    run = operator.post("runs", {"config": config}).json()["id"]
    refused = operator.post(f"runs/{run}/launch")
    assert refused.status_code == 422
    problem = refused.json()
    assert {one["field"] for one in problem["errors"]} == {"tokenizer.digest", "data.path"}
    assert {one["code"] for one in problem["findings"]} == {"TOK-1.lock", "DATA-1.format"}
    assert not Run.objects.get(pk=run).attempts.exists()
    (event, _) = operator.get(f"runs/{run}/events").json()["items"]
    assert event["kind"] == "launch_refused"
    assert operator.get(f"runs/{run}/preflight").json()["verdict"] == "fail"


def test_acts_follow_the_state(operator: Api, project: Project) -> None:
    run = make_run(project=project, desired="running")
    refused = operator.post(f"runs/{run.pk}/stop")
    assert refused.status_code == 409
    assert "never launched" in refused.json()["detail"]
    make_attempt(run=run, state="running")
    assert operator.post(f"runs/{run.pk}/save").status_code == 202
    assert operator.post(f"runs/{run.pk}/pause").json()["desired"] == "paused"
    assert operator.post(f"runs/{run.pk}/resume").json()["desired"] == "running"
    assert operator.post(f"runs/{run.pk}/stop", {"reason": "enough"}).json()["desired"] == "stopped"
    assert operator.post(f"runs/{run.pk}/stop", {"force": True}).status_code == 202


def test_acts_of_the_command_line_are_taken(
    operator: Api, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = make_run(project=project, desired="running")
    make_attempt(run=run, state="running")
    status: list[int] = []

    class Client:
        def act(self, kind: str, number: int, verb: str, body: dict[str, Any]) -> None:
            status.append(operator.post(f"{kind}/{number}/{verb}", body).status_code)

    monkeypatch.setattr(run_acts, "call", lambda as_json, act, show: act(Client()))
    run_acts.save(run.pk)
    run_acts.pause(run.pk, reason="lunch")
    run_acts.resume(run.pk)
    run_acts.stop(run.pk, force=False, reason="enough")
    assert status == [202] * 4
    (paused,) = operator.get(f"runs/{run.pk}/events", kind="pause").json()["items"]
    assert paused["message"] == f"{operator.user.username} paused the run: lunch"


def test_what_happened_can_be_read(operator: Api, run_id: int) -> None:
    operator.post(f"runs/{run_id}/launch")
    kinds = [one["kind"] for one in operator.get(f"runs/{run_id}/events").json()["items"]]
    assert {"created", "launch"} <= set(kinds)
    (event,) = operator.get(f"runs/{run_id}/events", kind="created").json()["items"]
    assert event["user"] == operator.user.username


def test_metrics_are_listed_and_read(operator: Api, run_id: int) -> None:
    assert operator.get(f"runs/{run_id}/metrics").json()["names"] == []
    chart = operator.get(f"runs/{run_id}/metrics", names=["a,b", "c"], x="step").json()
    assert [one["name"] for one in chart["series"]] == ["a,b", "c"]
    refused = operator.get(f"runs/{run_id}/metrics", names=["a"], points=1)
    assert refused.status_code == 422
    assert refused.json()["errors"][0]["field"] == "points"


def test_a_log_that_there_is_not_is_no_other_log(operator: Api, project: Project) -> None:
    attempt = make_attempt(run=make_run(project=project))
    path = f"runs/{attempt.run_id}/logs"
    assert operator.get(path, source="wrapper").json()["text"] == ""
    logs.append_log(attempt=attempt, source="wrapper", offset=0, data=b"cannot start\n")
    assert operator.get(path).json()["text"] == "cannot start\n"
    refused = operator.get(path, source="rank-3")
    assert refused.status_code == 404
    assert "it has wrapper" in refused.json()["detail"]


def test_logs_of_no_attempt_are_empty(operator: Api, run_id: int) -> None:
    answer = operator.get(f"runs/{run_id}/logs").json()
    assert (answer["attempt"], answer["text"]) == (None, "")
    assert operator.get(f"runs/{run_id}/logs", attempt=7).status_code == 404


def test_a_fork_needs_a_checkpoint_of_the_project(operator: Api, run_id: int) -> None:
    refused = operator.post(f"runs/{run_id}/fork", {"checkpoint": 999_999})
    assert refused.status_code == 404
    assert "no checkpoint 999999" in refused.json()["detail"]


def test_two_runs_are_compared_by_their_configs(
    operator: Api, run_id: int, document: Document
) -> None:
    config = operator.post("configs", {"document": document(train__seed=3)}).json()["id"]
    other = operator.post("runs", {"config": config, "name": "other"}).json()["id"]
    changes = operator.get(f"runs/{run_id}/diff", other=other).json()["changes"]
    assert [(one["path"], one["new"]) for one in changes] == [("train.seed", 3)]


@pytest.mark.parametrize("number", [2**63, 10**30])
def test_an_id_beyond_the_database_is_not_there(operator: Api, number: int) -> None:
    assert operator.get(f"runs/{number}").status_code == 404
    refused = operator.post("runs", {"config": number})
    assert (refused.status_code, refused.json()["errors"][0]["field"]) == (422, "config")
