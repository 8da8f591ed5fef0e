"""What both forms of a batch share: who sends, from where on, events, heartbeat, commands done."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, cast

import msgpack

from safehold.wire.batch import (
    EVENT_KINDS,
    PHASES,
    Applied,
    Batch,
    Event,
    EventKind,
    Form,
    Heartbeat,
    Phase,
    Refusal,
)
from safehold.wire.errors import TooLarge, UnsupportedVersion, WireError
from safehold.wire.limits import MAX_APPLIED, MAX_EVENT_BYTES, MAX_EVENTS, MAX_STEP, SUPPORTED
from safehold.wire.tidy import tidy

_JOURNAL = re.compile(r"[0-9a-f]{32}")
_MAX_RANK = 2**31 - 1


def read_head(
    data: Mapping[str, Any], n: int, *, form: Form = "msgpack", journal: str = "", seq: str = ""
) -> Batch:
    """Return a batch with everything but its records.

    Args:
        data: The map of the message.
        n: Number of records, which events refer to.
        form: How the message came.
        journal: Name to use where the message gives none.
        seq: Another name under which `first_seq` is read.

    Raises:
        UnsupportedVersion: `v` is not one of ours.
        WireError: a part is missing or of the wrong kind.
    """
    check_version(data)
    events, refused = _events(data.get("events", []), n)
    return Batch(
        rank=_whole(data, "rank", 0, _MAX_RANK, default=0 if form == "json" else None),
        journal=_journal(data.get("journal", journal or None)),
        first_seq=_whole(data, seq or "first_seq", 1, MAX_STEP - n),
        events=events,
        heartbeat=_heartbeat(data.get("heartbeat")),
        applied=_applied(data.get("applied", [])),
        refused=refused,
        form=form,
    )


def check_version(data: Mapping[str, Any]) -> None:
    """Raise `UnsupportedVersion` unless `v` is one that this side reads."""
    version = data.get("v")
    if type(version) is not int or version not in SUPPORTED:
        raise UnsupportedVersion(version, SUPPORTED)


def _whole(
    data: Mapping[str, Any], name: str, least: int, most: int, default: int | None = None
) -> int:
    value = data.get(name, default)
    if type(value) is not int or not least <= value <= most:
        raise WireError(name, f"must be a whole number from {least} to {most}, not {value!r:.80}")
    return value


def _journal(value: object) -> str:
    if not isinstance(value, str) or not _JOURNAL.fullmatch(value):
        raise WireError("journal", f"must be 32 hexadecimal digits, not {value!r:.80}")
    return value


def _events(raw: object, n: int) -> tuple[tuple[Event, ...], tuple[Refusal, ...]]:
    if not isinstance(raw, list):
        raise WireError("events", f"must be a list, not {type(raw).__name__}")
    if len(raw) > MAX_EVENTS:
        raise TooLarge("events", f"{len(raw)} events; at most {MAX_EVENTS} in one message")
    good, refused = [], []
    for number, item in enumerate(raw):
        found = _event(item, f"events[{number}]", n)
        if isinstance(found, Event):
            good.append(found)
        else:
            refused.append(found)
    return tuple(good), tuple(refused)


def _event(item: object, field: str, n: int) -> Event | Refusal:
    if not isinstance(item, dict):
        raise WireError(field, "must be a map with i, kind and data")
    i = _whole(item, "i", 0, max(n - 1, 0))
    kind, data = item.get("kind"), item.get("data")
    if n == 0 or not isinstance(kind, str) or not isinstance(data, dict):
        raise WireError(field, "must have a record i, a text kind and a map data")
    if kind not in EVENT_KINDS:
        return Refusal(i, kind[:250], f"no such kind of event; known: {', '.join(EVENT_KINDS)}")
    try:
        tidied = tidy(data, f"{field}.data")
    except WireError as error:
        return Refusal(i, kind, error.reason)
    size = len(msgpack.packb(tidied))
    if size > MAX_EVENT_BYTES:
        return Refusal(i, kind, f"data has {size} bytes, at most {MAX_EVENT_BYTES} are taken")
    return Event(i, cast(EventKind, kind), tidied)


def _heartbeat(raw: object) -> Heartbeat | None:
    if raw is None:
        return None
    if not isinstance(raw, dict):
        raise WireError("heartbeat", "must be a map")
    phase = raw.get("phase")
    if phase not in PHASES:
        raise WireError("heartbeat.phase", f"is {phase!r:.80}; known: {', '.join(PHASES)}")
    return Heartbeat(
        at=_whole(raw, "at", -MAX_STEP, MAX_STEP),
        step=_whole(raw, "step", -1, MAX_STEP),
        tokens=_whole(raw, "tokens", -1, MAX_STEP),
        phase=cast(Phase, phase),
    )


def _applied(raw: object) -> tuple[Applied, ...]:
    if not isinstance(raw, list) or len(raw) > MAX_APPLIED:
        raise WireError("applied", f"must be a list of at most {MAX_APPLIED}")
    return tuple(_one_applied(item, f"applied[{i}]") for i, item in enumerate(raw))


def _one_applied(item: object, field: str) -> Applied:
    if not isinstance(item, list) or len(item) not in (2, 3):
        raise WireError(field, "must be [id, outcome, message]")
    command, outcome = item[0], item[1]
    if isinstance(command, bool) or not isinstance(command, (int, str)):
        raise WireError(f"{field}.id", f"must be a number or text, not {command!r:.80}")
    if outcome not in ("applied", "refused"):
        raise WireError(f"{field}.outcome", f"is {outcome!r:.80}; known: applied, refused")
    return Applied(command, outcome, str(tidy(item[2] if len(item) == 3 else "") or ""))
