from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runs.forms import document as forms
from runs.forms.cards import TypedCard
from runs.forms.values import to_value
from safehold.config import ConfigInvalid, all_fields, fields_of, parse, validate
from safehold.planning import CardFields, parse_card

SPECS = all_fields()


def typed(document: dict[str, Any]) -> dict[str, str]:
    return {
        field.spec.path: field.text
        for section in forms.sections(SPECS, document)
        for field in section.fields
    }


def test_a_document_survives_the_form() -> None:
    document = forms.starting_document(SPECS)
    assert parse(forms.document_of(SPECS, typed(document))) == parse(document)


@given(
    mix=st.dictionaries(
        st.text(st.characters(whitelist_categories=("L",)), min_size=1, max_size=8),
        st.just(0.25),
        min_size=4,
        max_size=4,
    ),
    betas=st.tuples(st.floats(0, 0.99), st.floats(0, 0.99)),
    lr=st.floats(1e-9, 1),
)
def test_numbers_and_tables_survive_the_form(
    mix: dict[str, float], betas: tuple[float, float], lr: float
) -> None:
    document = forms.starting_document(SPECS)
    document["data"]["mix"] = mix
    document["optimizer"] |= {"betas": list(betas), "lr": lr}
    assert parse(forms.document_of(SPECS, typed(document))) == parse(document)


def test_acceptance_metrics_survive_the_form_in_whatever_order_the_database_keeps_their_keys() -> (
    None
):
    row = {"split": "val", "metric": "loss", "threshold": 4.5, "comparator": "<="}
    specs = fields_of(CardFields)
    fields = {
        field.spec.path: field.text
        for section in forms.sections(specs, {"acceptance": [row]})
        for field in section.fields
    }
    assert fields["acceptance"] == "loss val <= 4.5"
    assert forms.document_of(specs, fields)["acceptance"] == [row]


@pytest.mark.parametrize("digits", [310, 400, 5000])
def test_more_digits_than_a_number_has_are_refused_at_their_field(digits: int) -> None:
    specs = fields_of(CardFields)
    for path in ("network.parameters", "compute.mfu", "network.layers", "data.tokens"):
        document = forms.document_of(specs, {path: "9" * digits})
        with pytest.raises(ConfigInvalid) as refused:
            parse_card(document)
        assert {error.path for error in refused.value.errors} == {path}
        assert max(len(error.message) for error in refused.value.errors) < 300


def test_an_empty_optional_field_takes_its_default() -> None:
    fields = typed(forms.starting_document(SPECS)) | {
        "optimizer.clip": "",
        "train.accumulation": " ",
    }
    config = parse(forms.document_of(SPECS, fields))
    assert (config.optimizer.clip, config.train.accumulation) == (1.0, 1)


@pytest.mark.parametrize(
    ("path", "text"),
    [("train.steps", "abc"), ("train.steps", "1.5"), ("optimizer.lr", "1e-"), ("optimizer.betas", "0.9"), ("data.mix", "web 0.7"),
     ("network.layers", ""), ("train.precision", "fp8")],
)  # fmt: skip
def test_what_cannot_be_read_is_refused_at_its_field(path: str, text: str) -> None:
    faults = validate(
        forms.document_of(SPECS, typed(forms.starting_document(SPECS)) | {path: text})
    )
    assert faults
    assert all(fault.path.startswith(path) for fault in faults)


@pytest.mark.parametrize(
    ("text", "value"),
    [("70e9", 70_000_000_000), ("1_000", 1000), ("2,000", 2000), (" 12 ", 12), ("2 000 000", 2_000_000),
     ("-1,234,567.5", -1_234_567.5)],
)  # fmt: skip
def test_large_whole_numbers_are_typed_as_people_write_them(text: str, value: int) -> None:
    spec = next(spec for spec in fields_of(CardFields) if spec.path == "data.tokens")
    assert to_value(spec, text.strip()) == value


@pytest.mark.parametrize(
    "text", ["3,5e-4", "0,001", "1,5", "1,2345", "1,234 567", "1 5", "12,34,567", ",5"]
)
def test_a_decimal_comma_is_refused_and_never_read_as_another_number(text: str) -> None:
    fields = typed(forms.starting_document(SPECS)) | {"optimizer.lr": text}
    (fault,) = validate(forms.document_of(SPECS, fields))
    assert fault.path == "optimizer.lr"
    assert text in fault.message


def test_a_fault_stands_at_its_field_or_above_the_form() -> None:
    document = forms.starting_document(SPECS) | {"surprise": 1}
    document["optimizer"]["lr"] = -1.0
    faults = validate(document)
    at_fields = [
        field.spec.path
        for section in forms.sections(SPECS, document, faults)
        for field in section.fields
        if field.faults
    ]
    assert at_fields == ["optimizer.lr"]
    assert [fault.path for fault in forms.loose_faults(SPECS, faults)] == ["surprise"]


def test_a_section_of_another_choice_is_neither_kept_nor_shown() -> None:
    fields = typed(forms.starting_document(SPECS))
    assert "kubernetes" not in forms.document_of(SPECS, fields)
    chosen = forms.document_of(SPECS, fields | {"compute.launcher": "kubernetes"})
    assert parse(chosen).kubernetes is not None
    shown = {section.name: section.applies for section in forms.sections(SPECS, chosen)}
    assert shown["kubernetes"]


def test_texts_by_name_and_nested_values_survive_the_form() -> None:
    document = forms.starting_document(SPECS)
    document["compute"]["launcher"] = "kubernetes"
    document["kubernetes"] = {
        "env": {"NCCL_DEBUG": "INFO", "A": "b=c"},
        "volumes": [{"mount_path": "/data", "claim": "data"}],
        "affinity": {"podAffinity": {"x": [{"weight": 1}]}},
        "pull_secrets": ["one", "two"],
    }
    assert parse(forms.document_of(SPECS, typed(document))) == parse(document)


def test_a_fault_of_one_line_says_which_and_keeps_what_was_typed() -> None:
    card = TypedCard(
        {
            "data.domains": "web = 1e12\nbooks = 0.3",
            "acceptance": "a <= 1\nloss",
            "network.layers": "1e30",
        }
    )
    fields = {one.spec.path: one for section in card.sections() for one in section.fields}
    assert [part for part, _ in fields["data.domains"].told] == ["books"]
    assert [part for part, _ in fields["acceptance"].told] == ["2 threshold"]
    assert [part for part, _ in fields["network.layers"].told] == [""]
    assert fields["network.layers"].text == "1e30"
    assert fields["acceptance"].text == "a <= 1\nloss"


def test_a_field_of_tokens_does_not_ask_for_shares() -> None:
    fields = {
        one.spec.path: one
        for part in forms.sections(fields_of(CardFields), {})
        for one in part.fields
    }
    placeholder = fields["data.domains"].placeholder
    parse_card(forms.document_of(fields_of(CardFields), {"data.domains": placeholder}))
