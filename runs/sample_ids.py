"""Which samples a step consumed: the data behind a spike."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import msgpack

from runs.models import Run, SampleIds
from safehold.wire import decompress

_ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
# A message holds at most so many records, so a row that holds the step begins no earlier.
MAX_ROWS = 10_000


@dataclass(frozen=True)
class Consumed:
    """What one rank of one attempt consumed in a step, as the trainer told it."""

    attempt: int
    rank: int
    step: int
    data: dict[str, Any]


def at_step(run: Run, step: int) -> list[Consumed]:
    """Return what was consumed in a step, newest attempt first, then by rank."""
    rows = (
        SampleIds.objects.filter(attempt__run=run, min_step__lte=step, max_step__gte=step)
        .order_by("-attempt__number", "rank", "pk")
        .values_list("attempt__number", "rank", "payload")[:MAX_ROWS]
    )
    return [
        Consumed(attempt, rank, step, data)
        for attempt, rank, payload in rows
        for at, data in _unpacked(bytes(payload))
        if at == step
    ]


def _unpacked(payload: bytes) -> list[tuple[int, dict[str, Any]]]:
    plain = decompress(payload, "zstd") if payload.startswith(_ZSTD_MAGIC) else payload
    rows: list[tuple[int, dict[str, Any]]] = msgpack.unpackb(plain)
    return rows
