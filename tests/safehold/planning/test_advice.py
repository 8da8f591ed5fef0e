from typing import Any

import pytest

from safehold.planning import parse_card
from safehold.planning.advice import advice_for
from safehold.planning.stages import STAGES, defaults_of

GOOD: dict[str, Any] = {
    "team": "whole",
    "network": {"parameters": 7e9},
    "data": {"tokens": 200_000_000_000, "unique_tokens": 200_000_000_000, "quality": "high", "origin": "private"},
    "compute": {"devices": 64, "available_days": 60, "peak_tflops_per_device": 400, "memory_gb_per_device": 80},
    "plan": {"zero_stage": 3},
}  # fmt: skip


def codes(document: dict[str, Any], stage: str = "pretrain") -> list[str]:
    return [one.code for one in advice_for(parse_card(document), stage)]


def test_a_sound_card_is_advised_nothing() -> None:
    assert codes(GOOD) == []


@pytest.mark.parametrize(
    ("section", "change", "reason"),
    [
        ("data", {"origin": "public"}, "the data are public"),
        ("data", {"quality": "mixed"}, "not of high quality"),
        ("data", {"unique_tokens": 10_000_000_000}, "fewer than 20e9 tokens"),
        ("compute", {"available_days": 3}, "does not last for weeks"),
    ],
)
def test_the_route_names_what_speaks_against_pretraining(
    section: str, change: dict[str, Any], reason: str
) -> None:
    changed = GOOD | {section: GOOD[section] | change}
    found = [one for one in advice_for(parse_card(changed), "pretrain") if one.code == "CARD-5.route"]  # fmt: skip
    assert reason in found[0].message
    assert "fine-tuning" in found[0].advice
    assert "CARD-5.route" not in codes(changed, "sft")


def test_what_is_not_known_is_asked_for() -> None:
    (found,) = advice_for(parse_card({}), "pretrain")
    assert found.severity == "info"
    assert "skills of the team" in found.message


def test_too_few_tokens_advise_a_smaller_network() -> None:
    few = GOOD | {"data": GOOD["data"] | {"tokens": 70_000_000_000}}
    (found,) = advice_for(parse_card(few), "pretrain")
    assert found.code == "CARD-5.tokens_for_size"
    assert found.evidence["fitting_parameters"] == 3.5e9
    assert "rather than repeat data" in found.advice


def test_repeats_do_not_make_up_for_tokens() -> None:
    """10e9 unique tokens seen 20 times count at most 4 times."""
    many = GOOD | {
        "data": GOOD["data"] | {"unique_tokens": 10_000_000_000, "origin": "", "quality": ""}
    }
    assert {"CARD-5.tokens_for_size", "CARD-5.repeats"} <= set(codes(many))


@pytest.mark.parametrize("stage", ["continued", "sft", "preference"])
def test_later_stages_need_a_base(stage: str) -> None:
    assert "CARD-7.base_checkpoint" in codes(GOOD, stage)
    assert "CARD-7.base_checkpoint" not in codes(GOOD | {"base_checkpoint": 3}, stage)


@pytest.mark.parametrize(
    ("degree", "per_node", "is_warned"), [(8, 8, False), (16, 8, True), (16, 16, True), (8, 4, True), (4, 4, False)]
)  # fmt: skip
def test_tensor_parallelism_stays_within_eight_and_within_a_node(
    degree: int, per_node: int, is_warned: bool
) -> None:
    changed = GOOD | {
        "compute": GOOD["compute"] | {"devices_per_node": per_node},
        "plan": {"zero_stage": 3, "tensor_parallel": degree},
    }
    assert ("PLAN-1.tensor_parallel" in codes(changed)) is is_warned


def test_what_does_not_fit_is_told_with_a_way_out() -> None:
    (found,) = advice_for(parse_card(GOOD | {"plan": {}}), "pretrain")
    assert (found.code, found.severity) == ("PLAN-1.memory", "fail")
    assert found.advice == "Shard more: ZeRO stage 1."


def test_what_costs_more_than_is_granted_is_told() -> None:
    small = GOOD | {"compute": GOOD["compute"] | {"budget_device_days": 10, "available_days": 14}}
    assert codes(small) == ["CARD-2.budget", "CARD-2.time"]


def test_large_figures_are_written_out() -> None:
    dear = GOOD | {
        "compute": GOOD["compute"] | {"mfu": 0.1, "budget_device_days": 1000, "available_days": 999}
    }
    (found,) = (
        one for one in advice_for(parse_card(dear), "pretrain") if one.code == "CARD-2.budget"
    )
    assert found.message == "It takes 2,431 device-days without any loss; 1,000 are granted."


def test_domains_sum_to_the_whole() -> None:
    fitting = {"web": 150_000_000_000, "code": 50_000_000_000}
    assert codes(GOOD | {"data": GOOD["data"] | {"domains": fitting}}) == []
    assert "CARD-1.domains" in codes(GOOD | {"data": GOOD["data"] | {"domains": {"web": 1000}}})


@pytest.mark.parametrize("stage", STAGES)
def test_the_defaults_of_a_stage_are_a_card(stage: str) -> None:
    found = defaults_of(stage)
    assert parse_card(found.fields)
    assert found.data_form
    assert found.converged
    assert found.needs_base is (stage != "pretrain")
