from collections.abc import Iterable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from safehold.rulebook import QUANTITIES, Rule, Situation, deciding, with_values, written
from safehold.rulebook.judging import holds
from safehold.rulebook.reference import page
from tests.safehold.documents import make_config

RULES = list(written().rules())


def test_the_page_is_that_of_the_rules() -> None:
    found = (Path(__file__).parents[3] / "docs/reference/rulebook.md").read_text(encoding="utf-8")
    assert found == page(), (
        "run: python -m safehold.rulebook.reference > docs/reference/rulebook.md"
    )


def test_ids_are_unique_and_begin_with_their_file() -> None:
    assert len({rule.id for rule in RULES}) == len(RULES)
    for family in written().families:
        assert {rule.family for rule in family.rules} == {family.name}


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
def test_every_rule_is_whole(rule: Rule) -> None:
    assert rule.quantity in QUANTITIES
    assert rule.reason.endswith(".")
    assert rule.source
    assert rule.words or rule.low is not None or rule.high is not None


def test_project_values_decide_instead_and_the_finding_says_who_set_them() -> None:
    book = with_values({"weight_decay.any": {"low": 0.0, "high": 0.3}, "gone.rule": {"low": 1}})
    (found,) = book.judge(
        "weight_decay", Situation(config=make_config(optimizer__weight_decay=0.2))
    )
    assert (found.severity, found.evidence["set_by"], found.evidence["high"]) == (
        "pass",
        "project",
        0.3,
    )


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"clip.any": {"low": 2, "high": 1}}, "lower bound 2 lies above the upper bound 1"),
        ({"clip.any": {}}, "needs a lower or an upper bound"),
        ({"clip.any": {"low": float("nan")}}, "is no bound"),
        ({"precision.passes": {"low": 1}}, "it has no bounds to set"),
    ],
)
def test_values_that_cannot_be_are_refused(values: dict, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        with_values(values)


STAGES = st.sampled_from(["pretrain", "continued", "sft", "preference"])
SHAPES = st.sampled_from([(2, 64), (12, 768), (24, 2048), (32, 4096), (40, 5120), (80, 8192)])
SCHEDULES = st.sampled_from(["cosine", "linear", "constant", "three_part"])
STEPS = st.sampled_from([100, 9_999, 10_000, 500_000])


def by_topic(rules: Iterable[Rule]) -> dict[str, list[Rule]]:
    topics: dict[str, list[Rule]] = {}
    for rule in rules:
        topics.setdefault(rule.topic, []).append(rule)
    return topics


@given(
    STAGES,
    SHAPES,
    SCHEDULES,
    STEPS,
    st.sampled_from(["full", "lora"]),
    st.sampled_from(["bf16", "fp16"]),
)
def test_one_rule_decides_each_topic(
    stage: str, shape: tuple[int, int], schedule: str, steps: int, method: str, precision: str
) -> None:
    config = make_config(
        stage=stage, network__layers=shape[0], network__hidden=shape[1], optimizer__schedule=schedule,
        optimizer__decay_steps=1 if schedule == "three_part" else 0, train__steps=steps, train__method=method,
        train__precision=precision,
    )  # fmt: skip
    situation = Situation(config=config)
    for rules in by_topic(RULES).values():
        holding = [rule for rule in rules if holds(rule, situation)]
        best = deciding(rules, situation)
        assert (
            sum(one.specificity == best.specificity for one in holding) <= 1
            if best
            else not holding
        )


@given(STAGES, SHAPES)
def test_rate_and_warmup_always_have_a_span(stage: str, shape: tuple[int, int]) -> None:
    config = make_config(stage=stage, network__layers=shape[0], network__hidden=shape[1])
    topics = by_topic(RULES)
    for topic in ("learning_rate", "warmup", "betas.beta2", "clip", "weight_decay"):
        assert deciding(topics[topic], Situation(config=config)) is not None
