import pytest

from safehold.preflight import Facts, run_checks
from safehold.rulebook import Situation, written
from tests.safehold.documents import make_config


def test_the_baseline_is_shown_beside_the_vocabulary() -> None:
    config = make_config(network__vocabulary=50_000)
    (finding,) = run_checks(Facts(config=config), ["PLAN-4.starting_loss"]).findings
    assert (finding.severity, finding.evidence["field"]) == ("pass", "network.vocabulary")
    assert "10.82" in finding.message


@pytest.mark.parametrize(
    ("first_loss", "words"),
    [(10.9, ""), (6.0, "evaluation data may overlap training data"), (14.0, "initialisation")],
)
def test_the_first_loss_is_held_against_it(first_loss: float, words: str) -> None:
    situation = Situation(config=make_config(network__vocabulary=50_000), first_loss=first_loss)
    found = list(written().judge("starting_loss", situation))
    assert [one.severity for one in found] == ["pass", "warn" if words else "pass"]
    assert words in found[1].message
