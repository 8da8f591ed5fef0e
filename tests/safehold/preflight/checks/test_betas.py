from safehold.preflight import Facts, run_checks
from tests.safehold.documents import make_config


def test_a_value_within_its_span_passes() -> None:
    report = run_checks(Facts(config=make_config()), ["CONF-5.betas"])
    assert (report.verdict, {one.code for one in report.findings}) == ("pass", {"CONF-5.betas"})


def test_a_value_outside_warns_with_the_span_beside_its_field() -> None:
    report = run_checks(Facts(config=make_config(optimizer__betas=[0.9, 0.999])), ["CONF-5.betas"])
    (finding,) = [one for one in report.findings if one.severity == "warn"]
    assert finding.evidence["field"] == "optimizer.betas"
    assert finding.evidence["span"] in finding.message or finding.evidence["rule"].startswith(
        "betas."
    )


def test_without_a_config_it_is_unknown() -> None:
    (finding,) = run_checks(Facts(), ["CONF-5.betas"]).findings
    assert finding.severity == "unknown"
