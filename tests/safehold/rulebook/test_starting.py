from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from safehold.config import parse
from safehold.findings import Finding
from safehold.rulebook import Situation, starting, with_values, written
from tests.safehold.documents import make_document

STAGES = ["pretrain", "continued", "sft", "preference"]
# layers, hidden, heads, steps of usual lengths: 14 million to 70e9 parameters.
SHAPES = {
    "tiny": (2, 64, 4, 2000),
    "small": (12, 768, 12, 20_000),
    "1b": (24, 2048, 16, 100_000),
    "7b": (32, 4096, 32, 250_000),
    "13b": (40, 5120, 40, 250_000),
    "70b": (80, 8192, 64, 500_000),
}


def said(document: dict[str, Any]) -> list[Finding]:
    situation = Situation(config=parse(document))
    found = [
        one for family in written().families for one in written().judge(family.name, situation)
    ]
    return [one for one in found if one.severity != "pass"]


@pytest.mark.parametrize("stage", STAGES)
@pytest.mark.parametrize("shape", SHAPES)
def test_every_stage_begins_without_a_finding(stage: str, shape: str) -> None:
    layers, hidden, heads, steps = SHAPES[shape]
    network = {
        "layers": layers,
        "hidden": hidden,
        "heads": heads,
        "vocabulary": 50_304,
        "sequence_length": 1024,
    }
    document = make_document(network=network, train__steps=steps)
    assert said(starting.for_stage(document, stage, written())) == []


@given(
    stage=st.sampled_from(STAGES),
    lr=st.floats(1e-8, 10),
    share=st.floats(0, 1),
    warmup=st.integers(0, 900),
    beta=st.floats(0, 0.9999),
    decay=st.floats(0, 10),
    clip=st.floats(1e-6, 1e6),
    precision=st.sampled_from(["fp32", "bf16", "fp16"]),
    scaling=st.sampled_from(["dynamic", "static", "none"]),
    accumulation=st.sampled_from([1, 2]),
    divide=st.booleans(),
)
def test_whatever_it_is_copied_from_nothing_is_outside(stage: str, **given: Any) -> None:
    rate = given["lr"]
    document = make_document(
        stage=stage, train__steps=1000, optimizer__lr=rate, optimizer__min_lr=rate * given["share"],
        optimizer__warmup_steps=given["warmup"], optimizer__betas=[0.9, given["beta"]],
        optimizer__weight_decay=given["decay"], optimizer__clip=given["clip"], train__precision=given["precision"],
        train__loss_scaling=given["scaling"], train__accumulation=given["accumulation"],
        train__divide_loss=given["divide"],
    )  # fmt: skip
    assert said(starting.within(document, written())) == []


def test_a_projects_own_span_counts() -> None:
    own = with_values({"learning_rate.sft": {"low": 1e-6, "high": 5e-6}})
    found = starting.for_stage(make_document(train__steps=1000), "sft", own)
    assert found["optimizer"]["lr"] == 5e-6
    assert found["optimizer"]["min_lr"] == 5e-7


def test_what_would_break_the_config_stays() -> None:
    document = make_document(stage="sft", train__steps=20, optimizer__warmup_steps=1)
    assert starting.within(document, written())["optimizer"]["warmup_steps"] == 1


def test_the_rest_stays_as_it_was() -> None:
    document = make_document()
    found = starting.for_stage(document, "pretrain", written())
    assert found["data"] == document["data"]
    assert found["train"] == document["train"]
