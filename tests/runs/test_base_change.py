"""The base checkpoint as a variable of its own."""

from hypothesis import given
from hypothesis import strategies as st

from runs.base_change import with_base
from safehold.config import compare

RATE = (
    {"schema_version": 1, "optimizer": {"lr": 1e-3}},
    {"schema_version": 1, "optimizer": {"lr": 1e-4}},
)
NUMBERS = st.integers(0, 9)  # fmt: skip


def test_another_base_is_one_variable_more() -> None:
    found = with_base(compare(*RATE), 3, 5)
    assert [one.title for one in found.factors] == ["Peak learning rate", "Base checkpoint"]
    assert found.more_than_one
    change = found.changes[-1]
    assert (change.path, change.old, change.new, change.growth) == ("base_checkpoint", 3, 5, None)


def test_a_base_alone_is_one_variable() -> None:
    found = with_base(compare(RATE[0], RATE[0]), 0, 5)
    assert found.verdict == "one variable changed: Base checkpoint"
    assert (found.changes[0].old, found.changes[0].new) == (None, 5)


@given(NUMBERS, NUMBERS)
def test_it_counts_where_the_two_differ_and_nowhere_else(old: int, new: int) -> None:
    plain = compare(*RATE)
    assert with_base(plain, old, new).num_factors == plain.num_factors + (old != new)
