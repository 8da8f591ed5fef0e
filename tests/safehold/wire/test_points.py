from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from safehold import wire
from tests.safehold.wire.strategies import plain


def read(points: list[Any], **head: Any) -> wire.Batch:
    body = {"v": 1, "rank": 0, "first_seq": 1, "points": points} | head
    return wire.decode(json.dumps(body).encode(), "application/json; charset=utf-8")


def point(**changes: Any) -> dict[str, Any]:
    made = {"name": "loss", "step": 1, "value": 2.5, "ts": 1764000000000} | changes
    return {key: value for key, value in made.items() if value != "absent"}


@pytest.mark.parametrize(
    ("value", "stored"),
    [
        (2, 2.0),
        (-0.5, -0.5),
        ("NaN", math.nan),
        ("Infinity", math.inf),
        ("-Infinity", -math.inf),
        (math.nan, math.nan),
        (math.inf, math.inf),
    ],
)
def test_numbers_and_their_three_names_are_values(value: object, stored: float) -> None:
    batch = read([point(value=value)])
    assert batch.refused == ()
    assert batch.columns[0].values.tolist() == pytest.approx([stored], nan_ok=True)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"value": None}, "value is null"),
        ({"value": "absent"}, "value is missing"),
        ({"value": "2.5"}, "value must be a number, not '2.5'"),
        ({"value": "nan"}, "value must be a number, not 'nan'"),
        ({"value": True}, "value must be a number, not True"),
        ({"value": [1]}, "value must be a number"),
        ({"value": 10**399}, "value is beyond a 64-bit float"),
        ({"step": 2**63}, "step must be from 0 to 2^63-1"),
        ({"step": -1}, "step must be from 0"),
        ({"step": 3.5}, "step must be a whole number, not 3.5"),
        ({"step": "12"}, "step must be a whole number, not '12'"),
        ({"step": True}, "step must be a whole number, not True"),
        ({"step": None}, "step must be a whole number, not None"),
        ({"step": "absent"}, "step is missing"),
        ({"tokens": -1}, "tokens must be from 0"),
        ({"ts": "now"}, "ts must be a whole number"),
        ({"ts": math.inf}, "ts must be a whole number"),
        ({"name": ""}, "name is empty"),
        ({"name": "x" * 251}, "name has 251 characters, at most 250"),
        ({"name": "a\nb"}, "control character U+000A"),
        ({"name": "\ud800"}, "lone surrogate U+D800"),
        ({"name": 7}, "name must be text, not 7"),
    ],
)
def test_a_bad_point_is_refused_alone_by_its_index(changes: dict[str, Any], reason: str) -> None:
    batch = read([point(step=1), point(**changes), point(step=3)])
    assert [r.i for r in batch.refused] == [1]
    assert reason in batch.refused[0].reason
    assert batch.steps.tolist() == [1, -1, 3]
    assert batch.num_points == 2


def test_whole_floats_are_steps_and_large_ones_stay_exact() -> None:
    steps = [0, 2**31, 2**53 + 1, 2**63 - 1, 3.0]
    batch = read([point(step=step) for step in steps])
    assert batch.steps.tolist() == [0, 2**31, 2**53 + 1, 2**63 - 1, 3]


def test_any_reasonable_name_is_kept_as_it_is() -> None:
    names = [
        "train/loss",
        "val/acc@1",
        "损失/训练",
        "loss?x=1&y=2#z",
        "100%",
        "a b c",
        "é",
        "e\u0301",
    ]
    batch = read([point(name=name) for name in names])
    assert [column.name for column in batch.columns] == names


def test_refused_points_keep_their_number_so_a_retry_fits() -> None:
    points = [point(step=1), point(step=-1), point(step=3)]
    assert read(points).last_seq == 3
    assert wire.trim(read(points), 2).steps.tolist() == [3]


def test_a_sender_without_a_journal_always_gets_the_same_one() -> None:
    assert read([point()]).journal == read([point()], first_seq=9).journal
    assert read([point()], rank=1).journal != read([point()]).journal


def test_a_journal_in_this_form_may_begin_anywhere_but_not_leave_a_gap() -> None:
    batch = read([point()], first_seq=41)
    assert wire.unseen(batch, None).first_seq == 41
    with pytest.raises(wire.Gap, match="begins at 41 but 8 comes next"):
        wire.unseen(batch, 7)


def test_points_of_one_name_share_a_column() -> None:
    batch = read([point(step=1), point(name="lr", step=1), point(step=2)])
    loss = batch.column("loss")
    assert loss is not None
    assert loss.index is not None
    assert loss.index.tolist() == [0, 2]
    assert plain(wire.decode(wire.encode(batch))) == plain(batch)


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (b"{", "body: is not JSON"),
        (b"[]", "body: must be a map, not list"),
        (b'{"v":1}', "points: is missing"),
        (b'{"v":1,"points":{}}', "points: must be a list, not dict"),
        (b'{"v":1,"points":[]}', "seq: must be a whole number"),
        (b'{"v":9,"points":[]}', "version 9 is not supported"),
        (b"\xff\xfe", "body: is not JSON"),
        (b"[" * 100_000, "body: is not JSON"),
    ],
)
def test_a_body_that_is_no_message_says_why(body: bytes, reason: str) -> None:
    with pytest.raises(wire.WireError, match=reason):
        wire.decode(body, "application/json")


def test_a_number_of_many_digits_is_refused_alone_and_at_once() -> None:
    body = b'{"v":1,"seq":1,"points":[{"name":"a","step":%s,"value":1}]}' % (b"9" * 10_000)
    batch = wire.decode(body, "application/json")
    assert "step must be a whole number" in batch.refused[0].reason


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=5,
)


@given(st.lists(JSON | st.fixed_dictionaries({"name": JSON, "step": JSON, "value": JSON})))
def test_every_point_is_either_stored_or_refused(points: list[Any]) -> None:
    batch = read(points)
    stored = {int(i) for c in batch.columns if c.index is not None for i in c.index}
    assert stored | {r.i for r in batch.refused} == set(range(len(points)))
    assert batch.num_points + len(batch.refused) == len(points)
    wire.encode_ack(wire.Ack(1, refused=batch.refused), "application/json")
