from math import inf, nan

import pytest

from safehold.planning import Acceptance
from safehold.planning.acceptance import Measured, judge, names_of, verdict


def loss(comparator: str = "<=", threshold: float = 2.0, **changes: str) -> Acceptance:
    return Acceptance(
        **{"metric": "loss", "comparator": comparator, "threshold": threshold} | changes
    )  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("comparator", "value", "judgement"),
    [
        ("<=", 2.0, "accepted"), ("<", 2.0, "not accepted"), (">=", 2.0, "accepted"), (">", 2.0, "not accepted"),
        ("<=", nan, "not accepted"), ("<=", -inf, "not accepted"), (">=", inf, "not accepted"),
    ],
)  # fmt: skip
def test_a_metric_is_held_against_its_bound(comparator: str, value: float, judgement: str) -> None:
    (found,) = judge([loss(comparator)], {"validation/loss": Measured(value, 10)})
    assert found.judgement == judgement
    assert found.asked == f"{comparator} 2"


def test_what_was_not_logged_is_not_measured() -> None:
    (found,) = judge([loss()], {"train/loss": Measured(1.0, 10)})
    assert (found.judgement, found.measured) == ("not measured", None)


def test_a_split_is_found_under_its_usual_names() -> None:
    assert names_of(loss()) == ["validation/loss", "val/loss", "valid/loss", "eval/loss"]
    assert names_of(loss(split="test")) == ["test/loss"]
    assert names_of(loss(split="test", metric="mmlu/stem")) == ["test/mmlu/stem", "mmlu/stem"]
    (found,) = judge([loss()], {"val/loss": Measured(1.0, 10)})
    assert found.judgement == "accepted"


@pytest.mark.parametrize(
    ("values", "word"),
    [({"validation/loss": 1.0, "test/loss": 1.0}, "accepted"), ({"validation/loss": 1.0}, "not measured"),
     ({"validation/loss": 3.0}, "not accepted"), ({}, "not measured")],
)  # fmt: skip
def test_a_run_is_accepted_when_all_metrics_are(values: dict[str, float], word: str) -> None:
    measured = {name: Measured(value, 1) for name, value in values.items()}
    assert verdict(judge([loss(), loss(split="test")], measured)) == word


def test_a_card_without_metrics_accepts_nothing() -> None:
    assert verdict(()) == "not measured"
