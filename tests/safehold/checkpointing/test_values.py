"""Values come back from JSON as they went in, whatever they are called."""

import json
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from safehold.checkpointing.values import from_json, to_json

KEYS = st.one_of(st.text(max_size=5), st.integers(), st.tuples(st.integers(), st.text(max_size=3)))
VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), st.text()),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.lists(inner, max_size=4).map(tuple),
        st.dictionaries(KEYS, inner, max_size=4),
        st.dictionaries(st.sampled_from(["~map", "~tuple", "~other", "a"]), inner, max_size=2),
        st.dictionaries(st.integers(), st.integers(), max_size=4).map(Counter),
    ),
)


def kinds_of(value):
    """Return a value with the type of each part beside it: 1 == True, [] != ()."""
    if isinstance(value, dict):
        pairs = [(kinds_of(key), kinds_of(item)) for key, item in value.items()]
        return type(value).__name__, pairs
    if isinstance(value, list | tuple):
        return type(value).__name__, [kinds_of(item) for item in value]
    return type(value).__name__, repr(value)


@given(VALUES)
def test_every_value_comes_back(value):
    written = json.dumps(to_json(value), allow_nan=False)
    assert kinds_of(from_json(json.loads(written))) == kinds_of(value)


def test_what_json_holds_stands_as_it_is():
    value = {"consumed": 640, "seed": 1, "order": "feistel-6", "nested": [{"a": None}, 1.5]}
    assert to_json(value) == value


@pytest.mark.parametrize(
    "content",
    [{"~code": []}, {"~tuple": 5}, {"~map": [1]}, {"~map": [[[], 1]]}, {"~float": "much"}],
)
def test_what_cannot_be_is_refused(content):
    with pytest.raises(ValueError, match=r"~|float"):
        from_json([content])
