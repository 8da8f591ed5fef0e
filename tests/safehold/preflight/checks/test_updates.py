from safehold.preflight import Facts, run_checks
from tests.safehold.documents import make_config

PARENT = make_config(train__steps=1000, optimizer__warmup_steps=20)


def said(**changes: object) -> set[tuple[str, str]]:
    config = make_config(**{"train__steps": 1000, "optimizer__warmup_steps": 20} | changes)
    report = run_checks(Facts(config=config, parent=PARENT), ["CONF-6.updates"])
    return {(one.severity, one.evidence.get("rule", "")) for one in report.findings}


def test_step_counts_that_did_not_follow_the_accumulation_are_told_with_the_right_ones() -> None:
    config = make_config(
        train__steps=1000, train__global_batch=16, train__accumulation=2, optimizer__warmup_steps=20
    )
    (finding,) = run_checks(Facts(config=config, parent=PARENT), ["CONF-6.updates"]).findings
    assert (finding.severity, finding.evidence["recomputed"]) == (
        "warn", {"train.steps": 500, "optimizer.warmup_steps": 10},
    )  # fmt: skip


def test_recomputed_counts_pass() -> None:
    changes = {"train__global_batch": 16, "train__accumulation": 2, "train__steps": 500}
    assert said(**changes) == {("pass", "updates.recomputed")}


def test_the_same_batch_in_other_portions_changes_no_count() -> None:
    assert said(train__accumulation=2) == {("pass", "")}
