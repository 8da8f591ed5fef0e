import pytest
from hypothesis import given
from hypothesis import strategies as st

from controlplane.common.errors import Invalid
from runs.labels import MOST_TAGS, cleaned_name, cleaned_tags, split_tags


@pytest.mark.parametrize("name", ["two\nlines", "a\rb", "a\tb", "a\u2028b", "a\x1b[31m", "x" * 121])
def test_a_name_is_one_short_line(name: str) -> None:
    with pytest.raises(Invalid) as caught:
        cleaned_name(name)
    assert list(caught.value.fields) == ["name"]


@pytest.mark.parametrize("name", ["大模型-7B", "run #3 (bf16)", "👩‍🔬 test", "naïve"])
def test_a_name_may_hold_any_letters(name: str) -> None:
    assert cleaned_name(f" {name} ") == name


def test_tags_lose_their_hash_and_stand_once() -> None:
    assert cleaned_tags(["#bf16", " bf16 ", "", "大"]) == ["bf16", "大"]
    assert split_tags("a, b  c") == ["a", "b", "c"]


@pytest.mark.parametrize(
    "tags", [["a b"], ["a,b"], ["x" * 41], ["a\nb"], [str(n) for n in range(MOST_TAGS + 1)]]
)
def test_what_is_no_tag_is_refused(tags: list[str]) -> None:
    with pytest.raises(Invalid):
        cleaned_tags(tags)


@given(st.text())
def test_a_cleaned_name_is_clean_again(text: str) -> None:
    try:
        name = cleaned_name(text)
    except Invalid:
        return
    assert cleaned_name(name) == name
