"""How many variables changed: on 300 labelled pairs, see tests/cases/config_pairs."""

import copy
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from safehold.config import RunConfig, canonical_document, compare, parse
from tests.cases.config_pairs.base import BASE
from tests.cases.config_pairs.make import EDITS, PAIRS, made
from tests.cases.config_pairs.tricky import TRICKY
from tests.safehold.documents import make_config

DIFF_RIGHT, COUNT_RIGHT = 0.99, 0.98


def config_of(changes: dict[str, Any]) -> RunConfig:
    document = copy.deepcopy(BASE)
    for path, value in changes.items():
        *sections, name = path.split(".")
        table = document
        for section in sections:
            table = table.setdefault(section, {})
        if value is None:
            table.pop(name, None)
        else:
            table[name] = value
    return parse(document)


def pairs() -> list[dict[str, Any]]:
    return [json.loads(line) for line in PAIRS.read_text(encoding="utf-8").splitlines()]


def test_the_file_is_what_the_script_writes() -> None:
    assert pairs() == [*made(), *TRICKY]
    assert (len(pairs()), len(TRICKY)) == (300, 60)


def test_differences_and_counts_are_right_on_labelled_pairs() -> None:
    wrong_fields, wrong_counts = [], []
    for pair in pairs():
        found = compare(config_of(pair["old"]), config_of(pair["new"]))
        if [change.path for change in found.changes] != pair["fields"]:
            wrong_fields.append((pair["how"], [c.path for c in found.changes], pair["fields"]))
        if found.num_factors != pair["num_variables"]:
            wrong_counts.append(
                (pair["how"], [f.name for f in found.factors], pair["num_variables"])
            )
    num = len(pairs())
    assert 1 - len(wrong_fields) / num >= DIFF_RIGHT, wrong_fields
    assert 1 - len(wrong_counts) / num >= COUNT_RIGHT, wrong_counts


@pytest.mark.parametrize("edit", EDITS, ids=lambda edit: edit.name)
def test_an_edit_counts_the_same_there_and_back(edit: Any) -> None:
    old, new = config_of({}), config_of(edit.changes)
    assert compare(new, old).num_factors == compare(old, new).num_factors == edit.num_variables


def test_every_change_is_told_as_a_variable_a_consequence_or_with_its_reason() -> None:
    new = config_of(
        {"name": "b", "train.global_batch": 512, "train.accumulation": 2, "train.seed": 1}
    )
    found = compare(config_of({}), new)
    assert found.verdict == "more than one variable changed: Global batch, Seed"
    (batch, _) = found.factors
    assert (batch.paths, batch.following) == (("train.global_batch",), ("train.accumulation",))
    assert found.notes.keys() == {"name", "train.accumulation"}


def test_a_document_of_an_earlier_version_counts_as_its_defaults() -> None:
    older = canonical_document(make_config())
    del older["train"]["method"]
    assert compare(older, make_config()).verdict == "nothing differs"


@given(st.lists(st.sampled_from(EDITS), min_size=2, max_size=2))
def test_a_comparison_with_itself_is_empty_and_turned_round_it_names_the_same_fields(
    several: list[Any],
) -> None:
    one, other = (config_of(edit.changes) for edit in several)
    assert compare(one, one).changes == ()
    there, back = compare(one, other), compare(other, one)
    assert [c.path for c in there.changes] == [c.path for c in back.changes]
