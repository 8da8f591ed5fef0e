import pytest

from safehold.config import FieldSpec, all_fields, field_at, parse
from safehold.config.schema import RunConfig


@pytest.mark.parametrize("spec", all_fields(), ids=lambda spec: spec.path)
def test_every_field_is_described(spec: FieldSpec) -> None:
    assert spec.title
    assert spec.description.endswith(".")
    assert spec.required or spec.default is not None


@pytest.mark.parametrize("launcher", ["local", "kubernetes"])
def test_examples_alone_make_a_config(launcher: str) -> None:
    document: dict[str, object] = {}
    for spec in all_fields():
        if spec.only_with not in {None, ("compute.launcher", launcher)}:
            continue
        table = document.setdefault(spec.section, {}) if spec.section else document
        assert isinstance(table, dict)
        table[spec.path.rpartition(".")[2]] = spec.example
    assert isinstance(document["compute"], dict)
    document["compute"]["launcher"] = launcher
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


def test_what_has_more_than_one_level_is_typed_as_toml_only() -> None:
    forms = {spec.path: spec.form for spec in all_fields() if spec.section == "kubernetes"}
    nested = {path.rpartition(".")[2] for path, form in forms.items() if form == "nested"}
    assert nested == {"volumes", "tolerations", "topology_spread", "affinity"}
    assert (forms["kubernetes.env"], forms["kubernetes.pull_secrets"]) == ("pairs", "words")


def test_bounds_are_words() -> None:
    spec = field_at("optimizer.lr")
    assert spec is not None
    assert spec.bounds == "> 0, <= 10"


def test_an_unknown_path_has_no_field() -> None:
    assert field_at("optimizer.nope") is None
