from safehold.preflight import Facts, run_checks
from tests.safehold.documents import make_config

PARENT = make_config(train__steps=1000, optimizer__warmup_steps=20)


def said(**changes: object) -> set[tuple[str, str]]:
    config = make_config(**{"train__steps": 1000, "optimizer__warmup_steps": 20} | changes)
    report = run_checks(Facts(config=config, parent=PARENT), ["CONF-6.batch_and_lr"])
    return {(one.severity, one.evidence.get("rule", "")) for one in report.findings}


def test_a_larger_batch_alone_is_the_safe_order() -> None:
    assert said(train__global_batch=16) == {("pass", "batch_and_lr.order")}


def test_twice_the_batch_takes_at_most_the_root_of_two_in_rate() -> None:
    rate = {"optimizer__lr": 3e-4 * 2**0.5, "optimizer__warmup_steps": 40}
    found = said(train__global_batch=16, **rate)
    assert ("pass", "batch_and_lr.root") in found
    assert ("warn", "batch_and_lr.root") in said(train__global_batch=16, optimizer__lr=6e-4)


def test_a_larger_batch_with_a_higher_rate_asks_for_a_longer_warmup() -> None:
    assert ("warn", "batch_and_lr.warmup") in said(train__global_batch=16, optimizer__lr=4e-4)
    longer = said(train__global_batch=16, optimizer__lr=4e-4, optimizer__warmup_steps=40)
    assert ("pass", "batch_and_lr.warmup") in longer


def test_a_config_that_follows_none_is_not_asked() -> None:
    (finding,) = run_checks(Facts(config=make_config()), ["CONF-6.batch_and_lr"]).findings
    assert finding.severity == "pass"
