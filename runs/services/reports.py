"""What a message brings besides points: events of the trainer, commands it did, a wrong clock."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

import msgpack
from django.db import transaction

from controlplane.common.queue import wake
from runs import live
from runs.ingest.facts import Told, is_skewed, skew_changed
from runs.ingest.senders import Sender
from runs.models import Attempt, Event, SampleIds
from runs.services import commands, events
from safehold import wire
from safehold.wire import Batch, compress
from safehold.wire.limits import NO_TIME


def keep(*, sender: Sender, batch: Batch, told: Told, now: datetime) -> None:
    """Store the events of new records, note done commands, flag a clock; in the caller's transaction."""
    reports = [event for event in batch.events if event.kind != "batch_ids"]
    samples = [event for event in batch.events if event.kind == "batch_ids"]
    if samples:
        _keep_samples(sender, batch, samples)
    if reports:
        _keep_events(sender, batch, reports, now)
    if sender.is_over:
        return
    if batch.applied:
        attempt = Attempt.objects.select_related("run").get(pk=sender.attempt_id)
        commands.record_applied(attempt=attempt, applied=batch.applied)
    if skew_changed(sender.skew_seconds, told.skew_seconds):
        _keep_skew(sender, told)


def _keep_samples(sender: Sender, batch: Batch, found: Sequence[wire.Event]) -> None:
    """Store which samples the steps consumed: packed, beside the timeline, which they would flood."""
    steps = [int(batch.steps[event.i]) for event in found]
    rows = [[step, event.data] for step, event in zip(steps, found, strict=True)]
    SampleIds.objects.create(
        attempt_id=sender.attempt_id, rank=batch.rank, min_step=min(steps), max_step=max(steps),
        payload=compress(msgpack.packb(rows))[0],
    )  # fmt: skip


def _keep_events(sender: Sender, batch: Batch, found: Sequence[wire.Event], now: datetime) -> None:
    rows = [
        Event(
            run_id=sender.run_id, attempt_id=sender.attempt_id, at=_at(batch, event, sender, now),
            kind=event.kind, message=_sentence(event, batch), data=_data(batch, event),
            key=f"{sender.attempt_id}:{batch.rank}:{batch.journal}:{batch.first_seq + event.i}:{number}",
        )
        for number, event in enumerate(found)
    ]  # fmt: skip
    Event.objects.bulk_create(rows, ignore_conflicts=True)
    for row in rows:
        shown = {"event": row.kind, "message": row.message, "at": row.at.isoformat()}
        transaction.on_commit(partial(live.publish, sender.run_id, "event", shown))
    started = [e for e in found if e.kind == "lifecycle" and e.data.get("what") == "started"]
    if started and batch.rank == 0 and not sender.is_over:
        Attempt.objects.filter(pk=sender.attempt_id).update(environment=started[-1].data)
    if any(event.kind == "lifecycle" for event in found):
        wake("workers.reconcile", run_id=sender.run_id)


def _at(batch: Batch, event: wire.Event, sender: Sender, now: datetime) -> datetime:
    """Return when it happened by the sender's clock; by ours where that is missing or flagged as wrong."""
    sent = int(batch.times[event.i])
    if sent == NO_TIME or is_skewed(sender.skew_seconds):
        return now
    try:
        return min(datetime.fromtimestamp(sent / 1000, UTC), now)
    except (ValueError, OverflowError, OSError):
        return now


def _data(batch: Batch, event: wire.Event) -> dict[str, Any]:
    step = int(batch.steps[event.i])
    return event.data | ({"step": step} if step >= 0 and "step" not in event.data else {})


def _sentence(event: wire.Event, batch: Batch) -> str:
    data, step = event.data, int(batch.steps[event.i])
    at = f" at step {step}" if step >= 0 else ""
    if event.kind == "eval":
        name = f"{data.get('split', '')}/{data.get('name', '')}"
        return f"Evaluated{at}: {name} is {_figure(data.get('value'))}."
    if event.kind == "samples":
        return f"Sample outputs were logged{at}."
    if event.kind == "checkpoint":
        return f"The trainer told of a checkpoint{at}: {data.get('state', 'unknown')}."
    if event.kind == "lifecycle":
        return f"Rank {batch.rank}: {data.get('what', 'unknown')}{at}."
    return str(
        data.get("text") or data.get("message") or "The trainer sent a message without text."
    )


def _figure(value: object) -> str:
    """Return a number as a sentence bears it; the exact one stands in the data of the event."""
    return f"{value:.5g}" if isinstance(value, float) else f"{value}"


def _keep_skew(sender: Sender, told: Told) -> None:
    """Flag a clock that is off, or take the flag away; the points keep the sender's time either way."""
    skew = told.skew_seconds if is_skewed(told.skew_seconds) else None
    before, sender.skew_seconds = sender.skew_seconds, skew
    Attempt.objects.filter(pk=sender.attempt_id).update(clock_skew_seconds=skew)
    if (skew is None) != (before is None):
        attempt = Attempt.objects.select_related("run").get(pk=sender.attempt_id)
        message = "The sender's clock agrees with ours again."
        if skew is not None:
            side = "ahead of" if skew > 0 else "behind"
            message = f"The sender's clock is {timedelta(seconds=round(abs(skew)))} {side} ours."
        events.record(
            run=attempt.run, attempt=attempt, kind="clock_skew", message=message,
            data={"skew_seconds": skew},
        )  # fmt: skip
