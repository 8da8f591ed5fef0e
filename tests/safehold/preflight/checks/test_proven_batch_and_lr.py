import pytest

from safehold.preflight import Facts, run_checks
from safehold.preflight.facts import Proven
from tests.safehold.documents import make_config

CODE = "CONF-3.proven_batch_and_lr"


def severity(kind: str, proven: tuple[Proven, ...] | None) -> str:
    (finding,) = run_checks(Facts(config=make_config(kind=kind), proven=proven), [CODE]).findings[
        -1:
    ]
    return finding.severity


@pytest.mark.parametrize(
    ("proven", "expected"),
    [
        (None, "unknown"),
        ((), "fail"),
        ((Proven("one", 3e-4, 8),), "pass"),
        ((Proven("one", 3e-4, 16),), "fail"),
        ((Proven("one", 2e-4, 8),), "fail"),
        ((Proven("one", 2e-4, 8), Proven("two", 4e-4, 8)), "pass"),
        ((Proven("one", 2e-4, 8), Proven("two", 4e-4, 16)), "fail"),
    ],
)
def test_production_keeps_to_what_finished_runs_proved(
    proven: tuple[Proven, ...] | None, expected: str
) -> None:
    assert severity("production", proven) == expected


def test_an_experiment_may_try_what_no_run_has_proven() -> None:
    assert severity("experiment", ()) == "pass"
