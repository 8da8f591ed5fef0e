from typing import Any

import pytest

from safehold.config import ConfigInvalid
from safehold.planning import (
    compute_of,
    memory_of,
    missing_agreements,
    parameters_of,
    parse_card,
    read_card,
)
from safehold.planning.card_sums import (
    active_parameters_of,
    data_parallel_of,
    global_batch_of,
    nodes_of,
    step_seconds_of,
    steps_of,
)

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
MOE = {
    "architecture": "moe", "layers": 32, "hidden": 4096, "heads": 32, "kv_heads": 8, "ffn_multiple": 3.5, "gated": True,
    "tied": False, "vocabulary": 32_000, "experts": 8, "experts_per_token": 2,
}  # fmt: skip


def test_the_reference_card_is_reckoned() -> None:
    found = compute_of(parse_card(WHOLE))
    assert found is not None
    assert found.flops == 4.2e22
    assert found.device_seconds == 2.8e8
    assert found.wall_days == pytest.approx(6.33, abs=0.005)


def test_an_empty_card_is_a_card() -> None:
    card = parse_card({})
    assert (parameters_of(card), compute_of(card), memory_of(card)) == (0, None, None)
    assert (steps_of(card), step_seconds_of(card)) == (0, 0)


def test_parameters_come_from_the_shape_when_none_are_given() -> None:
    shape = {"layers": 12, "hidden": 768, "vocabulary": 50257}
    assert parameters_of(parse_card({"network": shape})) == pytest.approx(124e6, rel=0.01)
    assert parameters_of(parse_card({"network": shape | {"architecture": "moe"}})) == 0


def test_a_mixture_is_counted_whole_and_by_token() -> None:
    card = parse_card({"network": MOE})
    assert parameters_of(card) == 46_702_792_704
    assert active_parameters_of(card) == 12_879_925_248


def test_only_active_parameters_are_reckoned() -> None:
    card = parse_card(WHOLE | {"network": {"parameters": 70e9, "active_parameters": 7e9}})
    found = compute_of(card)
    assert found is not None
    assert found.flops == 4.2e21


def test_the_share_of_active_parameters_holds_for_a_rounded_total() -> None:
    """Somebody writes 47e9 beside the shape: the active part keeps its share."""
    card = parse_card({"network": MOE | {"parameters": 47e9}})
    assert active_parameters_of(card) == pytest.approx(47e9 * 12_879_925_248 / 46_702_792_704)


def test_the_ledger_of_a_card_follows_its_plan() -> None:
    found = memory_of(parse_card(WHOLE))
    assert found is not None
    assert found.fit == "does not fit"
    sharded = memory_of(parse_card(WHOLE | {"plan": {"zero_stage": 3}}))
    assert sharded is not None
    assert sharded.before_activations_bytes == 70e9 * 16 / 512
    assert sharded.fit == "fits"


def test_devices_are_divided_among_the_kinds_of_parallelism() -> None:
    card = parse_card(
        WHOLE
        | {
            "plan": {
                "tensor_parallel": 8, "pipeline_parallel": 4, "micro_batch": 2, "accumulation": 8
            },
            "network": {"parameters": 70e9, "sequence_length": 4096},
        }
    )  # fmt: skip
    assert (data_parallel_of(card), nodes_of(card), global_batch_of(card)) == (16, 64, 256)
    assert steps_of(card) == -(-100_000_000_000 // (256 * 4096))
    found = compute_of(card)
    assert found is not None
    assert step_seconds_of(card) * steps_of(card) == pytest.approx(found.wall_days * 86_400)


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


@pytest.mark.parametrize(
    ("document", "path"),
    [
        ({"network": {"hidden": 100, "heads": 3}}, "network.heads"),
        ({"network": {"hidden": 96, "heads": 6, "kv_heads": 4}}, "network.kv_heads"),
        ({"network": {"parameters": 1e9, "active_parameters": 2e9}}, "network.active_parameters"),
        ({"network": {"experts": 8, "experts_per_token": 2}}, "network.experts"),
        ({"network": MOE | {"experts_per_token": 9}}, "network.experts_per_token"),
        ({"network": MOE | {"experts_per_token": 0}}, "network.experts_per_token"),
        ({"compute": {"devices": 12}, "plan": {"tensor_parallel": 8}}, "plan.tensor_parallel"),
        ({"network": {"layers": 2}, "plan": {"pipeline_parallel": 4}}, "plan.pipeline_parallel"),
        ({"acceptance": [{"metric": "a", "threshold": 1}, {"metric": "a", "threshold": 2}]}, "acceptance.1"),
    ],
)  # fmt: skip
def test_fields_that_contradict_each_other_are_refused(document: dict[str, Any], path: str) -> None:
    with pytest.raises(ConfigInvalid) as caught:
        parse_card(document)
    assert [error.path for error in caught.value.errors] == [path]
    assert read_card(document)  # what was kept before a rule came can still be read


def test_both_ends_of_a_metric_may_be_bounded() -> None:
    bounds = [{"metric": "length", "comparator": sign, "threshold": at} for sign, at in ((">=", 1), ("<=", 2))]  # fmt: skip
    assert len(parse_card({"acceptance": bounds}).acceptance) == 2


def test_an_objective_may_have_lines_but_no_nul() -> None:
    assert parse_card({"objective": "a\nb"}).objective == "a\nb"
    with pytest.raises(ConfigInvalid, match="objective"):
        parse_card({"objective": "a\0b"})
