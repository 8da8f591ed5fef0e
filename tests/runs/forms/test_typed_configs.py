"""Form and TOML are two sides of one document, and nothing that was typed on either is lost."""

import tomllib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runs.forms import document as forms
from runs.forms.configs import SPECS, TypedConfig
from safehold.config import parse, to_toml
from tests.safehold.documents import make_document

WRITTEN = to_toml(make_document()).replace("lr = 0.0003", "lr = 3e-4  # from the sweep of May")
COMMENTED = f"# our first one\n{WRITTEN}"


def shown(document: dict[str, Any]) -> dict[str, str]:
    """Return the fields of the form that shows a document."""
    sections = forms.sections(SPECS, document)
    return {field.spec.path: field.text for section in sections for field in section.fields}


def as_form(toml: str = COMMENTED, base: str = "", **changes: str) -> TypedConfig:
    """Return what arrives once fields of the form that shows `toml` were changed."""
    changed = {name.replace("__", "."): text for name, text in changes.items()}
    fields = shown(tomllib.loads(base or toml)) | changed
    return TypedConfig({"side": "form", "toml": toml, "base": base, **fields})


def test_a_change_in_the_form_leaves_comments_and_order() -> None:
    typed = as_form(train__seed="77")
    assert typed.is_valid
    assert "# our first one" in typed.toml
    assert "lr = 3e-4  # from the sweep of May" in typed.toml
    assert tomllib.loads(typed.toml) == tomllib.loads(COMMENTED) | {
        "train": tomllib.loads(COMMENTED)["train"] | {"seed": 77}
    }


def test_a_form_that_nobody_touched_changes_nothing() -> None:
    assert as_form().toml == COMMENTED


def test_a_field_that_is_emptied_and_filled_again_keeps_its_comment() -> None:
    emptied = as_form(optimizer__lr="")
    assert not emptied.is_valid
    filled = as_form(emptied.toml, base=emptied.base, optimizer__lr="2e-4")
    assert filled.is_valid
    assert "# from the sweep of May" in filled.toml
    assert filled.document["optimizer"]["lr"] == 2e-4


def test_line_ends_of_a_browser_are_no_change() -> None:
    fields = shown(tomllib.loads(COMMENTED))
    windows = {name: text.replace("\n", "\r\n") for name, text in fields.items()}
    typed = TypedConfig({"side": "form", "toml": COMMENTED.replace("\n", "\r\n"), **windows})
    assert typed.toml == COMMENTED


@pytest.mark.parametrize(
    "broken", ["lr = = 1", "[train", "[train]\nsteps = 1\nsteps = 2\n", "name = 'a"]
)
def test_nothing_is_written_over_toml_that_cannot_be_read(broken: str) -> None:
    fields = shown(make_document()) | {"train.seed": "77"}
    typed = TypedConfig({"side": "form", "toml": broken, **fields})
    assert typed.toml == broken
    assert not typed.is_readable
    assert not typed.is_valid
    assert typed.document["train"]["seed"] == 77  # the form goes on showing what was typed there


def test_it_is_written_anew_only_when_asked_for() -> None:
    typed = TypedConfig.of_form({"side": "form", "toml": "[broken", **shown(make_document())})
    assert typed.is_valid
    assert parse(tomllib.loads(typed.toml)) == parse(make_document())


def test_what_no_field_shows_stays_and_is_told() -> None:
    typed = as_form(f"{COMMENTED}\n[surprise]\nx = 1 # mine\n", train__seed="5")
    assert "x = 1 # mine" in typed.toml
    assert [fault.path for fault in typed.faults] == ["surprise"]


def test_a_choice_that_is_not_written_shows_its_default() -> None:
    assert shown(make_document())["train.precision"] == "bf16"
    assert as_form(train__seed="5").document["train"].get("precision") is None


def test_faults_of_the_form_carry_the_line_of_the_text() -> None:
    typed = as_form(optimizer__lr="fast")
    assert [(fault.path, fault.line) for fault in typed.faults] == [
        ("optimizer.lr", typed.toml.splitlines().index('lr = "fast"  # from the sweep of May') + 1)
    ]


def test_a_section_goes_with_its_launcher_and_comes_back_with_what_was_typed() -> None:
    local = as_form(train__seed="1")
    pods = as_form(local.toml, compute__launcher="kubernetes", kubernetes__image="a:1")
    assert pods.document["kubernetes"] == {"image": "a:1"}
    back = as_form(pods.toml, compute__launcher="local")
    assert "kubernetes" not in back.document


def test_a_toml_file_stays_as_it_was_written() -> None:
    typed = TypedConfig.of_file("a.toml", COMMENTED.replace("\n", "\r\n").encode("utf-8-sig"))
    assert typed.toml == COMMENTED
    assert typed.is_valid


@pytest.mark.parametrize(("text", "is_left"), [("# why\nname: a\n", True), ("name: a#b\n", False)])
def test_comments_that_a_yaml_file_loses_are_told(text: str, is_left: bool) -> None:
    assert TypedConfig.of_file("a.yaml", text.encode()).has_left_comments is is_left


@given(
    seed=st.integers(0, 2**32 - 1),
    name=st.text(st.characters(categories=["L", "N", "P", "Zs"]), min_size=1, max_size=30),
    shares=st.sampled_from(["", "web = 0.5\ncode = 0.5", "web = 1"]),
)
def test_whatever_is_typed_in_the_form_stands_in_the_toml(
    seed: int, name: str, shares: str
) -> None:
    typed = as_form(train__seed=str(seed), name=name, data__mix=shares)
    again = TypedConfig({"side": "toml", "toml": typed.toml})
    assert again.document == typed.document
    assert again.document["train"]["seed"] == seed
    assert again.document.get("name", "") == name.strip()
    assert typed.toml.count("#") >= COMMENTED.count("#")


def test_what_was_last_read_is_restored_with_its_comments() -> None:
    fields = shown(tomllib.loads(COMMENTED))
    typed = {"side": "toml", "toml": "[broken", "base": COMMENTED, **fields}
    assert TypedConfig(typed).base == COMMENTED
    assert TypedConfig.of_form(typed).toml == COMMENTED
