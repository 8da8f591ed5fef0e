from safehold.preflight import facts_of, run_checks
from tests.safehold.documents import make_document


def test_each_fault_is_a_finding_with_its_field() -> None:
    report = run_checks(
        facts_of(make_document(optimizer__lr="3e-4", network__heads=3), ["config"]), ["config"]
    )
    (finding,) = [one for one in report.findings if one.severity == "fail"]
    assert finding.code == "CONF-3.config_fields"
    assert finding.evidence == {"field": "optimizer.lr"}
    assert finding.message.startswith("optimizer.lr: It should be a valid number")
    assert finding.advice == "Write it without quotes."


def test_a_sound_config_passes() -> None:
    assert run_checks(facts_of(make_document(), ["config"]), ["config"]).verdict == "pass"
