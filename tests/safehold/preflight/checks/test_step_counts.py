from safehold.preflight import facts_of, run_checks
from tests.safehold.documents import make_document


def test_both_faults_of_a_short_run_block() -> None:
    """CONF-02."""
    document = make_document(optimizer__warmup_steps=200, checkpoint__anchor_every_steps=500)
    report = run_checks(facts_of(document, ["config"]), ["CONF-2.step_counts"])
    assert report.verdict == "fail"
    assert [one.evidence["field"] for one in report.findings] == [
        "optimizer.warmup_steps", "checkpoint.anchor_every_steps",
    ]  # fmt: skip


def test_a_step_count_of_another_type_is_a_fault_of_this_check() -> None:
    (finding,) = run_checks(
        facts_of(make_document(train__steps=0.5)), ["CONF-2.step_counts"]
    ).findings
    assert (finding.severity, finding.evidence) == ("fail", {"field": "train.steps"})


def test_counts_that_could_not_be_compared_are_unknown() -> None:
    (finding,) = run_checks(
        facts_of(make_document(optimizer__lr="x")), ["CONF-2.step_counts"]
    ).findings
    assert finding.severity == "unknown"
