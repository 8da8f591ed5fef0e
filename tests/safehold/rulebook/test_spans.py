"""The spans of the requirements, at their bounds and beyond."""

from typing import Any

import pytest

from safehold.findings import Finding
from safehold.rulebook import Observed, Situation, written
from tests.safehold.documents import make_config

# Shapes by number of parameters, in round figures.
SMALL = {
    "network__layers": 12,
    "network__hidden": 768,
    "network__heads": 12,
    "network__vocabulary": 50304,
}
B1 = {
    "network__layers": 24,
    "network__hidden": 2048,
    "network__heads": 16,
    "network__vocabulary": 50304,
}
B7 = {
    "network__layers": 32,
    "network__hidden": 4096,
    "network__heads": 32,
    "network__vocabulary": 50304,
}
B13 = {
    "network__layers": 40,
    "network__hidden": 5120,
    "network__heads": 40,
    "network__vocabulary": 50304,
}
LONG = {"train__steps": 100_000}


def judged(family: str, topic: str, shape: dict[str, Any], **changes: Any) -> Finding | None:
    config = make_config(**shape | changes)
    found = written().judge(family, Situation(config=config))
    rules = {rule.id: rule for rule in written().rules()}
    return next((one for one in found if rules[one.evidence["rule"]].topic == topic), None)


@pytest.mark.parametrize(
    ("stage", "shape", "method", "low", "high"),
    [
        ("pretrain", SMALL, "full", 1e-4, 5e-4),
        ("pretrain", B7, "full", 2e-4, 5e-4),
        ("sft", SMALL, "full", 1e-5, 2e-5),
        ("sft", B7, "lora", 1e-4, 5e-4),
        ("preference", B7, "full", 1e-7, 5e-6),
    ],
)
def test_learning_rates(
    stage: str, shape: dict[str, Any], method: str, low: float, high: float
) -> None:
    def severity(rate: float) -> str:
        changes = {
            "optimizer__lr": rate,
            "optimizer__min_lr": 0.0,
            "stage": stage,
            "train__method": method,
        }
        found = judged("learning_rate", "learning_rate", shape, **changes)
        assert found is not None
        assert found.evidence["low"] == low
        return found.severity

    assert [severity(rate) for rate in (low, high)] == ["pass", "pass"]
    assert [severity(rate) for rate in (low * 0.9, high * 1.1)] == ["warn", "warn"]


@pytest.mark.parametrize(
    ("changes", "shape", "inside", "outside"),
    [
        ({"train__steps": 2000}, SMALL, [10, 100], [9, 101]),
        (LONG, SMALL, [500, 2000], [499, 2001]),
        (LONG, B1, [2000, 9000], [1999]),
        (LONG, B13, [3000, 5000], [2999, 5001]),
        (LONG | {"stage": "sft"}, SMALL, [100, 500], [99, 501]),
        (LONG | {"stage": "preference"}, B13, [100, 500], [99, 501]),
        (
            LONG | {"optimizer__schedule": "three_part", "optimizer__decay_steps": 20_000},
            B13,
            [20_000],
            [4000],
        ),
    ],
)
def test_warmups(changes: dict, shape: dict, inside: list[int], outside: list[int]) -> None:
    def severity(warmup: int) -> str:
        found = judged("warmup", "warmup", shape, optimizer__warmup_steps=warmup, **changes)
        return found.severity if found else ""

    assert {severity(warmup) for warmup in inside} == {"pass"}
    assert {severity(warmup) for warmup in outside} == {"warn"}


@pytest.mark.parametrize(
    ("family", "topic", "changes", "expected"),
    [
        ("minimum_lr", "minimum_lr", {"optimizer__min_lr": 3e-5}, "pass"),
        ("minimum_lr", "minimum_lr", {"optimizer__min_lr": 1e-5}, "pass"),
        ("minimum_lr", "minimum_lr", {"optimizer__min_lr": 9e-6}, "warn"),
        ("minimum_lr", "minimum_lr", {"optimizer__min_lr": 4e-5}, "warn"),
        ("minimum_lr", "minimum_lr", {"optimizer__schedule": "constant"}, ""),
        ("betas", "betas.beta2", {"optimizer__betas": [0.9, 0.95]}, "pass"),
        ("betas", "betas.beta2", {"optimizer__betas": [0.9, 0.999]}, "warn"),
        ("betas", "betas.beta2", {"optimizer__betas": [0.9, 0.999], "stage": "sft"}, "pass"),
        ("betas", "betas.beta2", {"optimizer__betas": [0.9, 0.99], "stage": "preference"}, "pass"),
        ("betas", "betas.beta2", {"optimizer__betas": [0.9, 0.95], "stage": "sft"}, "warn"),
        ("weight_decay", "weight_decay", {"optimizer__weight_decay": 0.1}, "pass"),
        ("weight_decay", "weight_decay", {"optimizer__weight_decay": 0.11}, "warn"),
        ("weight_decay", "weight_decay", {"optimizer__weight_decay": 0.0}, "warn"),
        ("weight_decay", "weight_decay", {"optimizer__weight_decay": 0.0, "train__method": "lora"}, "pass"),
        ("clip", "clip", {"optimizer__clip": 0.5}, "pass"),
        ("clip", "clip", {"optimizer__clip": 1.5}, "warn"),
        ("clip", "clip", {"optimizer__clip": 0.1}, "warn"),
        ("precision", "precision.passes", {"train__precision": "fp16"}, "warn"),
        ("precision", "precision.loss_scaling", {"train__precision": "fp16"}, "pass"),
        ("precision", "precision.loss_scaling", {"train__precision": "fp16", "train__loss_scaling": "none"}, "fail"),
        ("precision", "precision.loss_scaling", {"train__precision": "fp16", "train__loss_scaling": "static"}, "fail"),
        ("precision", "precision.loss_scaling", {"train__loss_scaling": "none"}, ""),
        ("precision", "precision.states", {"optimizer__state_precision": "bf16"}, "warn"),
        ("schedule", "schedule.decays", {"optimizer__schedule": "linear"}, "pass"),
        ("schedule", "schedule.decays", {"optimizer__schedule": "constant"}, "warn"),
        ("schedule", "schedule.held", {"optimizer__schedule": "three_part", "optimizer__decay_steps": 4,
                                       "optimizer__warmup_steps": 4}, "pass"),
        ("schedule", "schedule.held", {"optimizer__schedule": "three_part", "optimizer__decay_steps": 4,
                                       "optimizer__warmup_steps": 1}, "warn"),
        ("schedule", "schedule.decay", {"optimizer__schedule": "three_part", "optimizer__decay_steps": 1}, "warn"),
        ("learning_rate", "learning_rate.limit", {"optimizer__lr": 0.5}, "fail"),
    ],
)  # fmt: skip
def test_the_other_spans(family: str, topic: str, changes: dict, expected: str) -> None:
    found = judged(family, topic, {}, **changes)
    assert (found.severity if found else "") == expected


def test_a_clip_that_starves_the_update_says_so() -> None:
    found = judged("clip", "clip", {}, optimizer__clip=0.1)
    assert found is not None
    assert "starves the update" in found.message


def test_an_observed_norm_gives_the_clip_and_a_saw_tooth_the_beta() -> None:
    seen = Observed(run="pilot", norm_mean=0.1, norm_deviation=0.02, is_saw_tooth=True)
    config = make_config(optimizer__betas=[0.9, 0.999])
    clip = list(written().judge("clip", Situation(config=config, observed=seen)))[-1]
    assert clip.severity == "info"
    assert clip.evidence["clip"] == pytest.approx(0.16)
    betas = {
        one.evidence["rule"]: one
        for one in written().judge("betas", Situation(config=config, observed=seen))
    }
    assert (betas["betas.saw_tooth"].severity, betas["betas.saw_tooth"].advice) == (
        "warn",
        "Set β2 to 0.95.",
    )


def test_a_size_that_is_not_known_is_told_and_never_passes_in_silence() -> None:
    config = make_config(network__architecture="moe")
    found = list(written().judge("warmup", Situation(config=config)))
    assert "unknown" in {one.severity for one in found}


def test_a_mixture_that_tells_its_experts_has_a_size() -> None:
    mixture = {
        "network__architecture": "moe",
        "network__experts": 64,
        "network__experts_per_token": 6,
    }
    found = judged("warmup", "warmup", B1 | mixture, optimizer__warmup_steps=100, **LONG)
    assert found is not None
    assert (found.severity, found.evidence["rule"]) == ("warn", "warmup.pretrain_10b")
