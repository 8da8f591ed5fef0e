import pytest

from safehold.config import FieldSpec, all_fields, field_at, parse
from safehold.config.schema import RunConfig


@pytest.mark.parametrize("spec", all_fields(), ids=lambda spec: spec.path)
def test_every_field_is_described(spec: FieldSpec) -> None:
    assert spec.title
    assert spec.description.endswith(".")
    assert spec.required or spec.default is not None


def test_examples_alone_make_a_config() -> None:
    document: dict[str, object] = {}
    for spec in all_fields():
        table = document.setdefault(spec.section, {}) if spec.section else document
        assert isinstance(table, dict)
        table[spec.path.rpartition(".")[2]] = spec.example
    assert isinstance(parse(document), RunConfig)


def test_a_form_knows_what_to_ask() -> None:
    forms = {spec.path: spec.form for spec in all_fields()}
    assert (forms["network.tied"], forms["optimizer.lr"], forms["train.steps"]) == (
        "flag",
        "number",
        "integer",
    )
    assert (forms["data.mix"], forms["optimizer.betas"], forms["code.command"]) == (
        "shares",
        "numbers",
        "words",
    )
    choice = field_at("train.precision")
    assert choice is not None
    assert (choice.form, choice.choices) == ("choice", ("fp32", "bf16", "fp16"))


def test_bounds_are_words() -> None:
    spec = field_at("optimizer.lr")
    assert spec is not None
    assert spec.bounds == "> 0, <= 10"


def test_an_unknown_path_has_no_field() -> None:
    assert field_at("optimizer.nope") is None
