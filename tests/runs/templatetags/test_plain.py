from typing import Any

import pytest

from runs.templatetags.plain import plain


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (True, "yes"),
        (False, "no"),
        (None, "–"),
        ([], "–"),
        ("text", "text"),
        (0, "0"),
        (0.1, "0.1"),
        (["a", 1, None], "a, 1, –"),
        ({"torch": "2.13", "cuda": None}, "torch 2.13, cuda –"),
        ({"betas": [0.9, 0.95], "on": True}, "betas (0.9, 0.95), on yes"),
    ],
)
def test_a_value_reads_as_people_write_it(value: Any, text: str) -> None:
    assert plain(value) == text


@pytest.mark.parametrize("value", [{"a": {"b": ["c", True]}}, [None, {"d": False}]])
def test_nothing_reads_as_python_writes_it(value: Any) -> None:
    assert not set("{}[]'") & set(plain(value))
    assert "None" not in plain(value)
    assert "True" not in plain(value)
