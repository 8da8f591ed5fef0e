"""Batches of every shape that the wire allows."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from safehold import wire

INT64 = st.integers(0, 2**63 - 1)
NAMES = st.text(
    st.characters(blacklist_categories=("Cc", "Cs")), min_size=1, max_size=wire.MAX_NAME_CHARACTERS
)
TEXT = st.text(st.characters(blacklist_categories=("Cs",), blacklist_characters="\0"), max_size=20)
DATA = st.dictionaries(
    TEXT, st.one_of(st.none(), st.booleans(), st.integers(-(2**63), 2**63 - 1), TEXT), max_size=3
)


@st.composite
def columns(draw: st.DrawFn, n: int) -> wire.Columns:
    made = []
    for name in draw(st.lists(NAMES, unique=True, max_size=4)):
        mask = draw(st.lists(st.booleans(), min_size=n, max_size=n))
        index = np.flatnonzero(np.array(mask, dtype=bool)).astype(np.uint32)
        every = draw(st.booleans())
        size = n if every else index.size
        values = draw(st.lists(st.floats(width=64), min_size=size, max_size=size))
        if size:
            array = np.array(values, dtype=np.float64)
            made.append(wire.Column(name, None if every else index, array))
    return tuple(made)


@st.composite
def batches(draw: st.DrawFn) -> wire.Batch:
    n = draw(st.integers(0, 12))
    ints = st.lists(INT64, min_size=n, max_size=n).map(lambda v: np.array(v, dtype=np.int64))
    events = (
        st.builds(wire.Event, st.integers(0, n - 1), st.sampled_from(wire.EVENT_KINDS), DATA)
        if n
        else st.nothing()
    )
    beats = st.builds(wire.Heartbeat, INT64, INT64, INT64, st.sampled_from(wire.PHASES))
    applied = st.builds(
        wire.Applied, st.integers(0, 2**31), st.sampled_from(["applied", "refused"]), TEXT
    )
    return wire.Batch(
        rank=draw(st.integers(0, 5000)),
        journal=draw(st.text("0123456789abcdef", min_size=32, max_size=32)),
        first_seq=draw(st.integers(1, 2**62)),
        steps=draw(ints),
        tokens=draw(ints),
        times=draw(ints),
        columns=draw(columns(n)),
        events=tuple(draw(st.lists(events, max_size=3))) if n else (),
        heartbeat=draw(st.none() | beats),
        applied=tuple(draw(st.lists(applied, max_size=3))),
    )


def plain(batch: wire.Batch) -> dict[str, object]:
    """A batch as plain values that compare by bits, so that NaN equals NaN."""
    every = np.arange(batch.n, dtype=np.uint32)
    return {
        "head": (batch.rank, batch.journal, batch.first_seq),
        "ints": [a.tolist() for a in (batch.steps, batch.tokens, batch.times)],
        "columns": {
            c.name: (
                (every if c.index is None else c.index).tolist(),
                c.values.astype("<f8").tobytes(),
            )
            for c in batch.columns
        },
        "rest": (batch.events, batch.heartbeat, batch.applied),
    }


def slice_of(batch: wire.Batch, start: int, stop: int) -> wire.Batch:
    """Records `start` to `stop` (positions) as a batch of its own."""
    head = wire.trim(batch, batch.first_seq + start - 1)
    length = stop - start
    kept = []
    for column in head.columns:
        if column.index is None:
            kept.append(wire.Column(column.name, None, column.values[:length]))
        else:
            keep = column.index < length
            kept.append(wire.Column(column.name, column.index[keep], column.values[keep]))
    return wire.Batch(
        rank=batch.rank,
        journal=batch.journal,
        first_seq=batch.first_seq + start,
        steps=head.steps[:length],
        tokens=head.tokens[:length],
        times=head.times[:length],
        columns=tuple(c for c in kept if c.num_points),
        events=tuple(e for e in head.events if e.i < length),
        heartbeat=batch.heartbeat,
        applied=batch.applied,
    )
