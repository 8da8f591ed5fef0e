from __future__ import annotations

import struct
from typing import Any

import msgpack
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from safehold import wire
from tests.safehold.wire.strategies import batches, plain, slice_of

JOURNAL = "0123456789abcdef" * 2


def body_of(**changes: Any) -> bytes:
    body = {
        "v": 1,
        "rank": 0,
        "journal": JOURNAL,
        "first_seq": 1,
        "n": 2,
        "steps": struct.pack("<2q", 7, 8),
        "tokens": struct.pack("<2q", 70, -1),
        "times": struct.pack("<2q", 1, 2),
        "columns": [["loss", None, struct.pack("<2d", 2.5, float("nan"))]],
    }
    return msgpack.packb({k: v for k, v in (body | changes).items() if v != "absent"})


@given(batches())
def test_a_batch_comes_back_bit_for_bit(batch: wire.Batch) -> None:
    assert plain(wire.decode(wire.encode(batch))) == plain(batch)


@given(batches(), st.data())
def test_cutting_anywhere_and_joining_gives_the_same_batch(
    batch: wire.Batch, data: st.DataObject
) -> None:
    at = data.draw(st.integers(0, batch.n))
    whole = wire.merge([slice_of(batch, 0, at), slice_of(batch, at, batch.n)])
    expected = plain(batch)
    expected["rest"] = (
        tuple(sorted(batch.events, key=lambda e: e.i >= at)),
        batch.heartbeat,
        tuple(dict.fromkeys(batch.applied)),
    )
    assert plain(whole) == expected


@given(batches(), st.integers(-3, 15))
def test_trimming_keeps_just_the_records_beyond_the_mark(batch: wire.Batch, ahead: int) -> None:
    after = max(0, batch.first_seq + ahead)
    rest = wire.trim(batch, after)
    dropped = min(max(0, after + 1 - batch.first_seq), batch.n)
    assert rest.n == batch.n - dropped
    assert rest.steps.tolist() == batch.steps[dropped:].tolist()
    if rest.n:
        assert rest.last_seq == batch.last_seq
    assert rest.first_seq == max(batch.first_seq, after + 1)


@settings(max_examples=300)
@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_refused_with_a_wire_error(body: bytes) -> None:
    for content_type in (wire.CONTENT_MSGPACK, wire.CONTENT_JSON):
        with pytest.raises(wire.WireError):
            wire.decode(body, content_type)


@settings(max_examples=300)
@given(batches(), st.integers(0, 10**6), st.integers(0, 255))
def test_a_damaged_message_never_raises_anything_but_a_wire_error(
    batch: wire.Batch, at: int, byte: int
) -> None:
    body = bytearray(wire.encode(batch))
    body[at % len(body)] = byte
    try:
        read = wire.decode(bytes(body))
    except wire.WireError:
        return
    for column in read.columns:
        assert column.index is None or int(column.index[-1]) < read.n


@pytest.mark.parametrize(
    ("changes", "field", "reason"),
    [
        ({"n": 3}, "steps", "has 16 bytes, 24 are expected"),
        ({"n": True}, "n", "must be a whole number"),
        ({"n": -1}, "n", "must be a whole number"),
        ({"rank": "absent"}, "rank", "must be a whole number from 0"),
        ({"rank": -1}, "rank", "must be a whole number from 0"),
        ({"journal": "x"}, "journal", "must be 32 hexadecimal digits"),
        ({"first_seq": 0}, "first_seq", "must be a whole number from 1"),
        ({"first_seq": 2**63 - 1}, "first_seq", "must be a whole number from 1"),
        ({"steps": "text"}, "steps", "must be bytes, not str"),
        ({"columns": [["loss", None, b"1234567"]]}, "columns[0].values", "bytes of float64"),
        ({"columns": [["loss", None, b"12345678"]]}, "columns[0].values", "has 8 bytes, 16"),
        ({"columns": [["a", None, b""], "b"]}, "columns[0].values", "has 0 bytes"),
        ({"columns": [[b"a", None, b""]]}, "columns[0]", "must be [name, index or nil, values]"),
        (
            {"columns": [["a", struct.pack("<2I", 1, 1), bytes(16)]]},
            "columns[0].index",
            "must rise strictly and stay below n (2)",
        ),
        (
            {"columns": [["a", struct.pack("<I", 2), bytes(8)]]},
            "columns[0].index",
            "must rise strictly",
        ),
        (
            {"columns": [["a", None, bytes(16)], ["a", None, bytes(16)]]},
            "columns",
            "name one metric twice",
        ),
        ({"events": [{"i": 2, "kind": "eval", "data": {}}]}, "i", "from 0 to 1"),
        ({"events": [{"i": 0, "kind": "eval", "data": []}]}, "events[0]", "must have a record i"),
        (
            {"heartbeat": {"at": 1, "step": 1, "tokens": 1, "phase": "asleep"}},
            "heartbeat.phase",
            "is 'asleep'",
        ),
        ({"applied": [[True, "applied", ""]]}, "applied[0].id", "must be a number or text"),
        ({"applied": [[1, "done", ""]]}, "applied[0].outcome", "is 'done'"),
    ],
)
def test_a_wrong_part_is_named_with_its_reason(
    changes: dict[str, Any], field: str, reason: str
) -> None:
    with pytest.raises(wire.WireError) as caught:
        wire.decode(body_of(**changes))
    assert caught.value.field == field
    assert reason in caught.value.reason


@pytest.mark.parametrize("version", [0, 2, None, "1", True, 1.0])
def test_another_version_is_answered_with_the_supported_ones(version: object) -> None:
    with pytest.raises(wire.UnsupportedVersion) as caught:
        wire.decode(body_of(v=version))
    status, problem = wire.problem_of(caught.value)
    assert (status, problem["supported"]) == (426, [1])


def test_too_many_records_are_refused_before_they_are_read() -> None:
    with pytest.raises(wire.TooLarge, match="200001 records") as caught:
        wire.decode(body_of(n=200_001))
    assert wire.problem_of(caught.value)[0] == 413


def test_a_bad_name_is_refused_alone_and_the_others_are_kept() -> None:
    columns = [["bad\x00name", None, bytes(16)], ["good", None, bytes(16)]]
    batch = wire.decode(body_of(columns=columns))
    assert [c.name for c in batch.columns] == ["good"]
    assert [(r.i, r.name) for r in batch.refused] == [(0, "bad\x00name")]
    assert "control character U+0000" in batch.refused[0].reason


def test_a_value_without_a_step_is_refused_alone() -> None:
    batch = wire.decode(body_of(steps=struct.pack("<2q", -5, 8)))
    assert batch.steps.tolist() == [-1, 8]
    assert batch.columns[0].index is not None
    assert batch.columns[0].index.tolist() == [1]
    assert [(r.i, r.name, r.reason) for r in batch.refused] == [
        (0, "loss", "step must be at least 0")
    ]


def test_an_unknown_kind_of_event_is_refused_alone() -> None:
    events = [
        {"i": 0, "kind": "dream", "data": {}},
        {"i": 1, "kind": "eval", "data": {"value": float("nan"), "note": "a\0b", "big": [1.5]}},
    ]
    batch = wire.decode(body_of(events=events))
    assert [r.name for r in batch.refused] == ["dream"]
    assert batch.events[0].data == {"value": "NaN", "note": "a\ufffdb", "big": [1.5]}


def test_event_data_too_deep_is_refused_alone() -> None:
    deep: dict[str, Any] = {}
    for _ in range(40):
        deep = {"d": deep}
    batch = wire.decode(body_of(events=[{"i": 0, "kind": "eval", "data": deep}]))
    assert batch.events == ()
    assert "nested deeper than 32" in batch.refused[0].reason


def test_a_pure_heartbeat_needs_no_columns() -> None:
    beat = {"at": 5, "step": 6, "tokens": 7, "phase": "training"}
    bare = msgpack.packb(
        {"v": 1, "rank": 0, "journal": JOURNAL, "first_seq": 4, "n": 0, "heartbeat": beat}
    )
    batch = wire.decode(bare)
    assert batch.n == 0
    assert batch.last_seq == 3
    assert batch.heartbeat == wire.Heartbeat(5, 6, 7, "training")


def test_zstd_bodies_are_read_and_bombs_are_not() -> None:
    steps = np.zeros(10_000, dtype=np.int64)
    batch = wire.Batch(0, JOURNAL, 1, steps, steps, steps)
    packed, encoding = wire.compress(wire.encode(batch))
    assert encoding == "zstd"
    assert wire.decode(packed, wire.CONTENT_MSGPACK, encoding).n == 10_000
    bomb, _ = wire.compress(bytes(wire.MAX_BODY_BYTES + 1))
    with pytest.raises(wire.TooLarge, match="after decompression"):
        wire.decode(bomb, wire.CONTENT_MSGPACK, "zstd")
    with pytest.raises(wire.WireError, match="is 'br'; known: zstd"):
        wire.decode(packed, wire.CONTENT_MSGPACK, "br")
    with pytest.raises(wire.WireError, match="is not zstd"):
        wire.decode(b"plain", wire.CONTENT_MSGPACK, "zstd")
