"""Storing what a trainer sends, exactly once: at a cost that depends on the message, not on the history."""

from __future__ import annotations

from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from functools import partial

from django.db import transaction
from django.utils import timezone

from runs import live, states
from runs.ingest import senders, statements
from runs.ingest.facts import Told, skew_changed, told_by
from runs.ingest.senders import Sender
from runs.ingest.statements import Reply
from runs.metricstore import series, tail
from runs.metricstore.curve import spoken
from runs.models import Attempt, Journal
from runs.services import compaction, contact, reports
from runs.services.attempts import StaleState
from safehold.wire import Ack, Batch, Command, unseen


@dataclass(frozen=True, slots=True)
class Result:
    """The acknowledgement, and which part of the batch was new (for the live channel)."""

    ack: Ack
    new: Batch


def store_batch(*, attempt: Attempt, batch: Batch) -> Ack:
    """Store what is new of a batch, durably, and return the acknowledgement.

    An attempt that has ended is not revived: its points are stored, nothing else changes.

    Raises:
        Gap: Records between the last stored one and this batch are missing; nothing was stored.
    """
    return store(sender=senders.describe(attempt), batch=batch).ack


def store(*, sender: Sender, batch: Batch, payload: bytes | None = None) -> Result:
    """Do the work of `store_batch` for a sender that was identified by its token.

    Args:
        sender: Who sends.
        batch: What was decoded.
        payload: The body as it came, if it may be stored as it is.

    Raises:
        Gap: As `store_batch`.
    """
    now = timezone.now()
    told = told_by(batch, now, sender.sparkline)
    result = None
    if _is_plain(sender, batch, told):
        result = _store_at_once(sender, batch, told, now, payload)
    if result is None:
        return _store_with_care(sender, batch, told, now)
    return result


def _is_plain(sender: Sender, batch: Batch, told: Told) -> bool:
    """Say whether points (or a sign of life) are all that the message brings."""
    return (
        batch.form == "msgpack"
        and not (batch.events or batch.applied or sender.is_over)
        and not skew_changed(sender.skew_seconds, told.skew_seconds)
        and all((batch.rank, column.name) in sender.known for column in batch.columns)
    )


def _store_at_once(
    sender: Sender, batch: Batch, told: Told, now: datetime, payload: bytes | None
) -> Result | None:
    """Store a batch that follows on by one statement; None where it does not follow on."""
    data = (payload or tail.payload_of(batch)) if batch.n else None
    values = statements.parameters_of(sender, batch, told, now, data)
    reply = statements.run_statement(statements.FOLLOWING if batch.n else statements.BEAT, values)
    if reply.mark is None:
        return None
    _follow(sender, told, reply)
    if not batch.n:
        return Result(_ack(reply.mark, batch, now, reply.commands), batch)
    _told_others(sender, batch, told, data)
    return Result(_ack(batch.last_seq, batch, now, reply.commands), batch)


def _store_with_care(sender: Sender, batch: Batch, told: Told, now: datetime) -> Result:
    """Store whatever else may come: a first batch, an overlap, new names, events, a late message."""
    names = {(batch.rank, column.name) for column in batch.columns} - sender.known
    with transaction.atomic():
        if names:
            series.make_known(sender.attempt_id, names)
        new, acked = _stored_rows(sender, batch, now)
        if new.n != batch.n:
            told = _told_by_rest(sender, new, now)
        reply = _sign_of_life(sender, new, told, now)
        reports.keep(sender=sender, batch=new, told=told, now=now)
        _follow(sender, told, reply)
    sender.known |= names
    _told_others(sender, new, told, None, {name for _, name in names})
    return Result(_ack(acked, new, now, _still_pending(sender, batch, reply)), new)


def _told_by_rest(sender: Sender, new: Batch, now: datetime) -> Told:
    """Return what a message tells that was stored in part before. All of it old: nothing, not even its heartbeat."""
    return told_by(new, now, sender.sparkline) if new.n else Told()


def _stored_rows(sender: Sender, batch: Batch, now: datetime) -> tuple[Batch, int]:
    """Insert what is new under the lock of the journal; return it with the new high-water mark."""
    if not batch.n:
        mark = Journal.objects.filter(
            attempt_id=sender.attempt_id, rank=batch.rank, journal=batch.journal
        )
        return batch, mark.values_list("acked_seq", flat=True).first() or 0
    journal_id, acked = statements.lock_journal(sender.attempt_id, batch)
    new = unseen(batch, acked or None)
    if new.n:
        statements.insert_records(sender.attempt_id, journal_id, new, now)
    return new, max(acked, new.last_seq if new.n else 0)


def _sign_of_life(sender: Sender, new: Batch, told: Told, now: datetime) -> Reply:
    values = statements.parameters_of(sender, new, told, now, None)
    return statements.run_statement(statements.BEAT, values)


def _follow(sender: Sender, told: Told, reply: Reply) -> None:
    """Let the state follow what the trainer says it does; reconciliation does the rest."""
    if reply.state is None:
        return
    target = contact.state_after(states.State(reply.state), told.phase or "")
    if target is None and not reply.is_lost:
        return
    attempt = Attempt.objects.select_related("run").get(pk=sender.attempt_id)
    with transaction.atomic(), suppress(StaleState):
        if reply.is_lost:
            contact.contact_regained(attempt=attempt)
        if told.phase:
            contact.follow_phase(attempt=attempt, phase=told.phase)


def _still_pending(sender: Sender, batch: Batch, reply: Reply) -> tuple[Command, ...]:
    """Return the commands less those that this very message reported."""
    if reply.state is None:
        return ()
    done = {report.id for report in batch.applied}
    return tuple(command for command in reply.commands if command.id not in done)


def _told_others(
    sender: Sender,
    new: Batch,
    told: Told,
    payload: bytes | None,
    new_names: Collection[str] = (),
) -> None:
    if told.sparkline is not None:
        sender.sparkline = told.sparkline
    if new.n:
        compaction.noticed(sender.attempt_id, new)
    row = {
        "step": told.step, "tokens": told.tokens, "tokens_per_second": told.speed,
        "last_loss": None if told.loss is None else spoken(told.loss),
    }  # fmt: skip
    known = (
        {} if sender.is_over else {key: value for key, value in row.items() if value is not None}
    )
    transaction.on_commit(partial(live.publish_batch, sender.run_id, sender.number, new, payload))
    if new_names:
        transaction.on_commit(partial(live.publish_names, sender.run_id, new_names))
    transaction.on_commit(partial(live.publish_row, sender.project_id, sender.run_id, known))


def _ack(acked: int, new: Batch, now: datetime, pending: tuple[Command, ...] = ()) -> Ack:
    return Ack(
        acked=acked,
        records=new.n,
        stored=new.num_points,
        refused=new.refused,
        commands=pending,
        server_time=tail.milliseconds(now),
    )
