"""The marks between the parts of a line are those of the language."""

from types import SimpleNamespace

import pytest
from django.template.loader import render_to_string
from django.utils import translation


@pytest.mark.parametrize(
    ("language", "told"),
    [
        ("en", "more than one variable changed: 2 (Peak learning rate, Seed)"),
        ("zh-hans", "改动了不止一个变量：2 个（峰值学习率、随机种子）"),
    ],
)
def test_a_note_stands_in_the_parentheses_of_the_language(language: str, told: str):
    factors = [SimpleNamespace(title="Peak learning rate"), SimpleNamespace(title="Seed")]
    found = {"more_than_one": True, "num_factors": 2, "factors": factors}
    with translation.override(language):
        assert told in render_to_string("runs/_change_verdict.html", {"found": found})
