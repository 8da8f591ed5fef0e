"""Who may send, what is answered, what a message changes besides the points."""

import json
from datetime import timedelta
from typing import Any

import numpy as np
import pytest
from django.utils import timezone

from runs import sample_ids
from runs.ingest import senders
from runs.models import Attempt, Command, MetricBatch, SampleIds
from runs.services import attempt_tokens, attempts, commands, contact
from safehold import wire
from tests.factories import make_attempt
from tests.runs.ingest.posting import ack_of, case, chart, make_batch, post, send, shown, strict

pytestmark = pytest.mark.django_db


@pytest.fixture
def attempt() -> Attempt:
    return make_attempt(state="running")


def beat(step: int = 0, phase: str = "training", at: int | None = None) -> wire.Heartbeat:
    now = int(timezone.now().timestamp() * 1000)
    return wire.Heartbeat(at=now if at is None else at, step=step, tokens=step * 100, phase=phase)


def event(kind: str, i: int = 0, **data: Any) -> wire.Event:
    return wire.Event(i, kind, data)


def problem(response: Any, status: int) -> dict[str, Any]:
    assert response.status_code == status, response.content
    assert response["Content-Type"] == "application/problem+json"
    return strict(response.content)


def test_a_batch_is_acknowledged_with_what_was_new(attempt: Attempt) -> None:
    ack = ack_of(send(attempt, make_batch(4)))
    assert (ack.acked, ack.records, ack.stored, ack.commands) == (4, 4, 4, ())
    assert abs(ack.server_time / 1000 - timezone.now().timestamp()) < 60
    again = ack_of(send(attempt, make_batch(6)))
    assert (again.acked, again.records, again.stored) == (6, 2, 2)
    assert sorted(shown(chart(attempt, "train/loss"))) == [1, 2, 3, 4, 5, 6]


def test_a_gap_is_answered_with_where_to_go_on(attempt: Attempt) -> None:
    send(attempt, make_batch(4))
    told = problem(send(attempt, make_batch(4, first_seq=9)), 409)
    assert (told["type"], told["acked"]) == ("urn:safehold:problem:gap", 4)
    assert MetricBatch.objects.filter(attempt=attempt).count() == 1


def test_compressed_bodies_are_read_and_kept_as_they_came(attempt: Attempt) -> None:
    body, encoding = wire.compress(wire.encode(make_batch(2000)))
    headers = {"Content-Encoding": encoding, "content_type": wire.CONTENT_MSGPACK}
    send(attempt, make_batch(0, heartbeat=beat()))
    ack_of(post(attempt, wire.encode(make_batch(1)), content_type=wire.CONTENT_MSGPACK))
    ack = ack_of(
        post(attempt, wire.compress(wire.encode(make_batch(2000, first_seq=2)))[0], **headers)
    )
    assert (encoding, ack.acked) == ("zstd", 2001)
    assert len(body) < 2000 * 16


@pytest.mark.parametrize(
    ("body", "headers", "status", "kind"),
    [
        (b"", {}, 400, "wire"),
        (b"\xc1", {"content_type": "application/msgpack"}, 400, "wire"),
        (b"no zstd", {"Content-Encoding": "zstd"}, 400, "wire"),
        (b"{}", {"Content-Encoding": "br"}, 400, "wire"),
        (b'{"v": 2, "points": []}', {}, 426, "wire-version"),
        (wire.compress(b"\0" * (wire.MAX_BODY_BYTES + 1))[0], {"Content-Encoding": "zstd"}, 413, "too-large"),
    ],
    ids=["empty", "no msgpack", "no zstd", "other encoding", "other version", "bomb"],
)  # fmt: skip
def test_what_cannot_be_read_is_told_as_a_problem(
    attempt: Attempt, body: bytes, headers: dict, status: int, kind: str
) -> None:
    told = problem(post(attempt, body, **headers), status)
    assert told["type"] == f"urn:safehold:problem:{kind}"


@pytest.mark.parametrize("header", ["", "Bearer", "Bearer sha_wrong", "Basic x"])
def test_without_the_token_of_an_attempt_nothing_is_taken(attempt: Attempt, header: str) -> None:
    response = post(attempt, case("names.json"), Authorization=header)
    assert problem(response, 401)["type"] == "urn:safehold:problem:token-unknown"


def test_a_revoked_token_is_refused_within_two_seconds(
    attempt: Attempt, monkeypatch: pytest.MonkeyPatch
) -> None:
    send(attempt, make_batch(1))
    attempt_tokens.revoke_token(attempt=attempt)
    later = senders.time.monotonic() + senders.REMEMBER_SECONDS + 0.1
    monkeypatch.setattr(senders.time, "monotonic", lambda: later)
    told = problem(send(attempt, make_batch(2)), 403)
    assert told["type"] == "urn:safehold:problem:token-ended"


def test_late_metrics_are_stored_for_a_day_and_revive_nothing(attempt: Attempt) -> None:
    send(attempt, make_batch(4, heartbeat=beat(4)))
    attempts.end_attempt(attempt=attempt, outcome="failed", reason="Signal 9.")
    commands_before = Command.objects.create(attempt=attempt, kind="save")
    senders.forget_all()
    seen, step = Attempt.objects.values_list("last_seen_at", "run__step").get(pk=attempt.pk)
    ack = ack_of(send(attempt, make_batch(9, heartbeat=beat(9))))
    attempt.refresh_from_db()
    assert (ack.acked, ack.stored, ack.commands) == (9, 5, ())
    assert (attempt.state, attempt.outcome, attempt.last_seen_at) == ("ended", "failed", seen)
    assert attempt.run.step == step == 4
    assert not Command.objects.filter(pk=commands_before.pk, done_at__isnull=False).exists()
    assert sorted(shown(chart(attempt, "train/loss"))) == list(range(1, 10))


def test_a_day_after_the_end_nothing_is_taken(attempt: Attempt) -> None:
    long_ago = timezone.now() - timedelta(hours=25)
    Attempt.objects.filter(pk=attempt.pk).update(state="ended", outcome="failed", ended_at=long_ago)
    told = problem(send(attempt, make_batch(1)), 403)
    assert told["type"] == "urn:safehold:problem:token-ended"
    assert "24 hours" in told["detail"]


def test_lists_are_told_step_tokens_loss_and_speed(attempt: Attempt) -> None:
    columns = (
        wire.Column("train/loss", None, np.array([3.0, 2.5])),
        wire.Column("throughput/tokens_per_second", None, np.array([100.0, 110.0])),
    )
    send(attempt, make_batch(2, columns=columns))
    run = Attempt.objects.get(pk=attempt.pk).run
    assert (run.step, run.tokens, run.last_loss, run.tokens_per_second) == (2, 200, 2.5, 110.0)
    assert run.sparkline["values"][-1] == 2.5
    assert run.last_point_at is not None


@pytest.mark.parametrize(
    ("state", "phase", "after"),
    [
        ("submitting", "starting", "starting"),
        ("waiting", "training", "running"),
        ("starting", "saving", "running"),
        ("running", "paused", "paused"),
        ("pausing", "training", "pausing"),
        ("pausing", "paused", "paused"),
        ("paused", "training", "running"),
        ("stopping", "training", "stopping"),
        ("running", "finished", "running"),
    ],
)
def test_the_state_follows_the_trainer_forwards_only(state: str, phase: str, after: str) -> None:
    attempt = make_attempt(state=state)
    for seq in (1, 2):
        send(attempt, make_batch(1, first_seq=seq, heartbeat=beat(seq, phase)))
    attempt.refresh_from_db()
    assert (attempt.state, attempt.phase) == (after, phase)


def test_a_sign_of_life_ends_the_silence(attempt: Attempt) -> None:
    contact.contact_lost(attempt=attempt, since=timezone.now() - timedelta(minutes=5))
    ack_of(send(attempt, make_batch(0, heartbeat=beat(7))))
    attempt.refresh_from_db()
    assert attempt.contact_lost_since is None
    assert attempt.last_seen_at is not None
    kinds = set(attempt.events.values_list("kind", flat=True))
    assert kinds == {"contact_lost", "contact_regained"}


def test_commands_come_with_every_answer_until_they_are_reported(attempt: Attempt) -> None:
    command = commands.send(attempt=attempt, kind="save_and_stop")
    batches = [make_batch(1), make_batch(0, first_seq=2, heartbeat=beat(1))]
    for batch in batches:
        [told] = ack_of(send(attempt, batch)).commands
        assert (told.id, told.kind) == (command.pk, "save_and_stop")
    report = (wire.Applied(command.pk, "applied", "saved at step 1"),)
    done = make_batch(0, first_seq=2, heartbeat=beat(1), applied=report)
    assert ack_of(send(attempt, done)).commands == ()
    assert ack_of(send(attempt, done)).commands == ()
    command.refresh_from_db()
    assert (command.result, command.message) == ("applied", "saved at step 1")


def test_events_become_lines_of_the_timeline_once(attempt: Attempt) -> None:
    found = (
        event("eval", name="loss", split="val", value=2.5),
        event("message", 1, level="warning", text="Data are slow."),
        event("lifecycle", 1, what="started", host="node-1"),
    )
    batch = make_batch(2, events=found)
    send(attempt, batch)
    send(attempt, batch)
    lines = attempt.events.order_by("pk").values_list("kind", "message")
    assert list(lines) == [
        ("eval", "Evaluated at step 1: val/loss is 2.5."),
        ("message", "Data are slow."),
        ("lifecycle", "Rank 0: started at step 2."),
    ]
    attempt.refresh_from_db()
    assert attempt.environment["host"] == "node-1"


def test_the_samples_of_each_step_are_kept_beside_the_timeline(attempt: Attempt) -> None:
    found = tuple(event("batch_ids", i, ids=[i] * 500) for i in range(3))
    send(attempt, make_batch(3, events=found))
    row = SampleIds.objects.get(attempt=attempt)
    assert (row.min_step, row.max_step) == (1, 3)
    [consumed] = sample_ids.at_step(attempt.run, 3)
    assert (consumed.attempt, consumed.rank, consumed.data["ids"]) == (1, 0, [2] * 500)
    assert sample_ids.at_step(attempt.run, 4) == []
    assert not attempt.events.exists()


def test_only_an_event_moves_the_mark_and_leaves_no_empty_batch(attempt: Attempt) -> None:
    batch = make_batch(1, columns=(), events=(event("message", text="hello"),))
    assert ack_of(send(attempt, batch)).acked == 1
    assert not MetricBatch.objects.exists()


def test_a_heartbeat_far_from_our_clock_is_flagged_once_and_taken_back(attempt: Attempt) -> None:
    now = int(timezone.now().timestamp() * 1000)
    for shift in (7_200_000, 7_200_500, 0):
        send(attempt, make_batch(0, heartbeat=beat(1, at=now + shift)))
    messages = list(attempt.events.order_by("pk").values_list("message", flat=True))
    attempt.refresh_from_db()
    assert [text.split()[3] for text in messages] == ["is", "agrees"]
    assert attempt.clock_skew_seconds is None


def test_the_exit_record_is_kept_as_a_hint(attempt: Attempt) -> None:
    record = {"v": 1, "outcome": "failed", "ranks": {"0": {"exit_code": None, "signal": 9}}}
    response = post(attempt, json.dumps({"v": 1, "exit": record}).encode(), "ingest/exit")
    assert response.status_code == 200
    attempt.refresh_from_db()
    assert (attempt.exit, attempt.state) == (record, "running")
    told = problem(post(attempt, b'{"v": 1, "exit": 3}', "ingest/exit"), 400)
    assert told["field"] == "exit"


def test_log_text_is_stored_by_offset(attempt: Attempt) -> None:
    def push(offset: int, data: str) -> Any:
        body = {"v": 1, "source": "rank-0", "offset": offset, "data": data}
        return post(attempt, json.dumps(body).encode(), "ingest/logs")

    assert push(0, "step 1\n").json()["next"] == 7
    assert push(0, "step 1\nstep 2\n").json()["next"] == 14
    assert problem(push(99, "later"), 409)["next"] == 14
    assert problem(push(-1, "x"), 400)["field"] == "offset"
