from typing import Any

import pytest

from safehold.config import ConfigInvalid
from safehold.planning import compute_of, memory_of, missing_agreements, parameters_of, parse_card

WHOLE: dict[str, Any] = {
    "task_form": "open_generation",
    "network": {"parameters": 70e9},
    "data": {"tokens": 100_000_000_000},
    "compute": {
        "devices": 512,
        "peak_tflops_per_device": 300,
        "mfu": 0.5,
        "memory_gb_per_device": 80,
    },
    "acceptance": [{"metric": "loss", "threshold": 2}],
}


def test_the_reference_card_is_reckoned() -> None:
    found = compute_of(parse_card(WHOLE))
    assert found is not None
    assert found.flops == 4.2e22
    assert found.wall_days == pytest.approx(6.33, abs=0.005)


def test_an_empty_card_is_a_card() -> None:
    card = parse_card({})
    assert (parameters_of(card), compute_of(card), memory_of(card)) == (0, None, None)


def test_parameters_come_from_the_shape_when_none_are_given() -> None:
    shape = {"layers": 12, "hidden": 768, "vocabulary": 50257}
    assert parameters_of(parse_card({"network": shape})) == pytest.approx(124e6, rel=0.01)
    assert parameters_of(parse_card({"network": shape | {"architecture": "moe"}})) == 0


def test_only_active_parameters_are_reckoned() -> None:
    card = parse_card(WHOLE | {"network": {"parameters": 70e9, "active_parameters": 7e9}})
    found = compute_of(card)
    assert found is not None
    assert found.flops == 4.2e21


def test_the_ledger_of_a_card_compares_with_its_device() -> None:
    found = memory_of(parse_card(WHOLE))
    assert found is not None
    assert found.fit == "does not fit"


@pytest.mark.parametrize(
    ("part", "path"),
    [({"task_form": ""}, "task_form"), ({"data": {}}, "data.tokens"), ({"compute": {}}, "compute.devices"),
     ({"acceptance": []}, "acceptance")],
)  # fmt: skip
def test_a_missing_agreement_is_named(part: dict[str, Any], path: str) -> None:
    assert missing_agreements(parse_card(WHOLE)) == []
    assert missing_agreements(parse_card(WHOLE | part)) == [path]


def test_a_fault_is_named_by_its_field() -> None:
    with pytest.raises(ConfigInvalid) as caught:
        parse_card({"network": {"layers": -1, "hiden": 3}, "acceptance": [{"metric": "a"}]})
    assert {error.path for error in caught.value.errors} == {
        "network.layers", "network.hiden", "acceptance.0.threshold",
    }  # fmt: skip


def test_an_objective_may_have_lines_but_no_nul() -> None:
    assert parse_card({"objective": "a\nb"}).objective == "a\nb"
    with pytest.raises(ConfigInvalid, match="objective"):
        parse_card({"objective": "a\0b"})
