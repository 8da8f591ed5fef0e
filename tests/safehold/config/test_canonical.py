import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from safehold.config import (
    canonical_document,
    canonical_json,
    config_hash,
    family_hash,
    parse,
    read_text,
    to_toml,
)
from tests.safehold.documents import make_config, make_document


@pytest.mark.parametrize("text", ["3e-4", "0.0003", "3.0e-4", "0.00030", "+3e-04"])
def test_one_number_has_one_hash(text: str) -> None:
    toml = to_toml(make_config()).replace("lr = 0.0003", f"lr = {text}")
    assert config_hash(read_text(toml)) == config_hash(make_config())


def test_the_hash_names_its_algorithm() -> None:
    assert config_hash(make_config()).startswith("blake3:")
    assert len(config_hash(make_config())) == len("blake3:") + 64


def test_the_hash_is_stable_over_releases() -> None:
    assert (
        config_hash(make_config())
        == "blake3:e36f336d4470100194b5eef5f8ae9d6430014fa3b2cbd3cbf94579ca944c9f54"
    )


def test_another_value_has_another_hash() -> None:
    assert config_hash(make_config(train__seed=1)) != config_hash(make_config())


def test_the_order_of_keys_does_not_count() -> None:
    turned = dict(reversed(make_document().items()))
    assert config_hash(parse(turned)) == config_hash(make_config())


def test_a_stored_document_is_hashed_as_it_is() -> None:
    """No default is filled in again: a field that a later version adds drifts nothing."""
    stored = canonical_document(make_config())
    del stored["log"]
    assert json.loads(canonical_json(stored)).keys() == stored.keys()
    assert config_hash(stored) != config_hash(make_config())


def test_a_store_may_return_whole_floats_as_integers() -> None:
    stored = canonical_document(make_config())
    stored["optimizer"]["clip"] = 1
    assert config_hash(stored) == config_hash(make_config())


@given(st.floats(min_value=0, max_value=1e300, exclude_min=True))
def test_every_float_survives_a_store(value: float) -> None:
    stored = {"network": {}, "clip": value}
    assert config_hash(json.loads(json.dumps(stored))) == config_hash(stored)


def test_a_number_that_is_not_finite_has_no_canonical_form() -> None:
    with pytest.raises(ValueError, match="JSON"):
        canonical_json({"a": float("nan")})


def test_the_family_is_the_shape_without_the_data() -> None:
    plain = family_hash(make_config())
    assert family_hash(make_config(data__path="/other", optimizer__lr=1e-4)) == plain
    assert family_hash(make_config(network__layers=3)) != plain
    assert family_hash(canonical_document(make_config())) == plain


def test_a_field_that_a_later_version_adds_splits_no_family() -> None:
    older = canonical_document(make_config())
    del older["network"]["kv_heads"]
    assert family_hash(older) == family_hash(make_config())
    assert family_hash(make_config(network__kv_heads=2)) != family_hash(make_config())


def test_toml_reads_back_as_the_same_document() -> None:
    config = make_config(
        data__mix={"web site": 0.25, 'a"b.c': 0.75}, name='q"uoted ü', code__command=["a b", "\\"]
    )
    assert read_text(to_toml(config)) == config
    assert read_text(to_toml(canonical_document(config))) == config


def test_unknown_parts_of_an_older_document_are_written_too() -> None:
    stored = canonical_document(make_config()) | {"future": {"a": 1}}
    assert "[future]\na = 1" in to_toml(stored)
