from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from safehold.planning import Acceptance, Shape, parameter_count, parameters_of, parse_card
from safehold.planning.pilots import MixResult, mix_pilot_of, pilot_of, ranked, shape_near

LARGE: dict[str, Any] = {
    "network": {"layers": 80, "hidden": 8192, "heads": 64, "kv_heads": 8, "ffn_multiple": 3.5, "gated": True,
                "vocabulary": 128_256, "sequence_length": 8192, "tied": False, "parameters": 70e9},
    "data": {"tokens": 1_000_000_000_000, "domains": {"web": 700_000_000_000, "code": 300_000_000_000}},
    "compute": {"devices": 512, "budget_device_days": 4000},
    "plan": {"tensor_parallel": 8, "pipeline_parallel": 4, "step_seconds": 12.0},
}  # fmt: skip


def test_a_pilot_has_a_hundredth_of_the_data_and_a_tenth_of_the_network() -> None:
    pilot = pilot_of(parse_card(LARGE))
    assert pilot.data.tokens == 10_000_000_000
    assert pilot.data.domains == {"web": 7_000_000_000, "code": 3_000_000_000}
    assert parameters_of(pilot) == pytest.approx(7e9, rel=0.1)
    assert pilot.network.hidden // pilot.network.heads == 128
    assert pilot.network.heads == 8 * pilot.network.kv_heads
    assert parse_card(pilot.model_dump(mode="json"))


def test_what_was_measured_on_the_large_network_is_left_out() -> None:
    pilot = pilot_of(parse_card(LARGE))
    assert (pilot.plan.step_seconds, pilot.plan.tensor_parallel) == (0, 1)
    assert (pilot.compute.devices, pilot.compute.budget_device_days) == (8, 0)


def test_a_card_that_knows_little_has_a_pilot_that_knows_little() -> None:
    pilot = pilot_of(parse_card({"data": {"tokens": 1000}}))
    assert (parameters_of(pilot), pilot.data.tokens, pilot.compute.devices) == (0, 10, 0)


def test_a_mix_pilot_has_about_a_billion_parameters() -> None:
    assert parameters_of(mix_pilot_of(parse_card(LARGE))) == pytest.approx(1e9, rel=0.15)
    assert parameters_of(mix_pilot_of(parse_card({}))) == pytest.approx(1e9, rel=0.1)


@given(
    layers=st.integers(2, 96),
    heads=st.integers(2, 64),
    width=st.sampled_from([64, 128]),
    share=st.floats(0.05, 0.5),
)
def test_a_shape_is_found_near_the_wanted_size(
    layers: int, heads: int, width: int, share: float
) -> None:
    shape = Shape(layers=layers, hidden=heads * width, heads=heads, vocabulary=1000)
    found = shape_near(shape, parameter_count(shape) * share)
    assert 1 <= found.layers <= layers
    assert found.hidden % found.heads == 0
    assert found.hidden <= shape.hidden
    assert parameter_count(found) <= parameter_count(shape)


METRICS = [
    Acceptance(metric="mmlu", comparator=">=", threshold=0.5),
    Acceptance(metric="perplexity", comparator="<=", threshold=10.0),
]


def mix(name: str, **values: float) -> MixResult:
    return MixResult(name, {"web": 1.0}, values)


def test_mixes_are_ranked_by_what_their_networks_can_do() -> None:
    found = ranked(
        [mix("a", mmlu=0.3, perplexity=9.0), mix("b", mmlu=0.5, perplexity=8.0), mix("c", mmlu=0.4, perplexity=12.0)],
        METRICS,
    )  # fmt: skip
    assert [(one.place, one.result.name) for one in found] == [(1, "b"), (2, "a"), (2, "c")]
    assert found[0].ranks == {"mmlu": 1, "perplexity": 1}


def test_a_mix_without_a_value_is_last_in_that_metric() -> None:
    found = ranked([mix("a", mmlu=0.3), mix("b", mmlu=0.2, perplexity=8.0)], METRICS)
    ranks = {one.result.name: one.ranks for one in found}
    assert ranks == {"a": {"mmlu": 1, "perplexity": 2}, "b": {"mmlu": 2, "perplexity": 1}}


def test_a_value_that_is_no_number_is_last() -> None:
    found = ranked([mix("a", mmlu=float("nan")), mix("b", mmlu=0.1)], METRICS[:1])
    assert [one.result.name for one in found] == ["b", "a"]
