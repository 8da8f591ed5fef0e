import pytest

from safehold.preflight import Facts, run_checks
from safehold.preflight.facts import Proven, Trial
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


def advice(proven: tuple[Proven, ...], trial: Trial | None) -> tuple[str, dict[str, object]]:
    facts = Facts(config=make_config(kind="production"), proven=proven, trial=trial)
    (finding,) = run_checks(facts, [CODE]).findings[-1:]
    return finding.advice, dict(finding.evidence)


def test_without_any_it_says_what_to_store_and_finish() -> None:
    told, evidence = advice((), None)
    assert told.startswith(
        "Store this config as an experiment, with the same rate, batch and steps"
    )
    assert told.endswith(
        "No run of this family and stage has done all its steps yet; pilots do not count."
    )
    assert not {"run_ids", "config_ids"} & evidence.keys()


@pytest.mark.parametrize(
    ("trial", "begins", "run_ids"),
    [
        (Trial("small", 4, 2000), "Launch experiment 4 (small) and let it do all 2,000 steps.", []),
        (
            Trial("small", 4, 2000, run_id=9, steps=1500),
            "Let run 9 of experiment 4 (small) do all its steps: it is at 1,500 of 2,000.",
            [9],
        ),
    ],
)
def test_the_experiment_that_would_prove_it_is_named(
    trial: Trial, begins: str, run_ids: list[int]
) -> None:
    told, evidence = advice((), trial)
    assert told.startswith(begins)
    assert evidence["config_ids"] == [4]
    assert evidence.get("run_ids", []) == run_ids


def test_the_nearest_proven_combination_is_named() -> None:
    proven = (Proven("far", 3e-3, 64, 1), Proven("near", 2e-4, 8, 2), Proven("other", 3e-4, 32, 3))
    told, evidence = advice(proven, None)
    assert told.endswith(
        "Or take the nearest proven combination: rate 0.0002 with batch 8, of run 2 (near)."
    )
    assert evidence["run_ids"] == [2]
