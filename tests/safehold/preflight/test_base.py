from collections.abc import Iterator

import pytest

from safehold.config import ConfigInvalid, parse
from safehold.findings import Finding
from safehold.preflight import Facts, all_checks, base, run_checks
from tests.safehold.documents import make_config


def test_a_check_without_its_fact_says_unknown() -> None:
    report = run_checks(Facts())
    assert {finding.severity for finding in report.findings} == {"unknown"}
    assert {finding.code for finding in report.findings} == {one.code for one in all_checks()}


def test_a_missing_fact_warns_an_experiment_and_blocks_production() -> None:
    assert run_checks(Facts(config=make_config()), ["data"]).verdict == "warn"
    assert run_checks(Facts(config=make_config(kind="production")), ["data"]).verdict == "fail"


def test_groups_and_codes_choose() -> None:
    report = run_checks(Facts(config=make_config()), ["tokenizer", "CONF-2.step_counts"])
    assert {finding.code for finding in report.findings} == {
        "TOK-1.lock", "TOK-4.ids_in_embedding", "CONF-2.step_counts",
    }  # fmt: skip


def test_why_a_config_cannot_be_read_is_said_whatever_was_asked() -> None:
    with pytest.raises(ConfigInvalid) as refused:
        parse({"name": "small"})
    report = run_checks(Facts(config_errors=tuple(refused.value.errors)), ["rules"])
    assert report.verdict == "fail"
    told = [one.message for one in report.findings if one.code == "CONF-3.config_fields"]
    assert any(message.startswith("network") for message in told)


def test_an_unknown_name_is_refused_with_the_groups() -> None:
    with pytest.raises(
        ValueError, match="no check memoryy; groups are checkpoint, config, data, rules, tokenizer"
    ):
        run_checks(Facts(), ["memoryy"])


def test_a_broken_check_does_not_lose_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(facts: Facts) -> Iterator[Finding]:
        """Break."""
        raise RuntimeError("boom")
        yield

    monkeypatch.setitem(base._REGISTRY, "X-1.broken", base.Check("X-1.broken", "config", broken))
    report = run_checks(Facts(config=make_config()), ["config"])
    found = {finding.code: finding for finding in report.findings}
    assert found["X-1.broken"].severity == "unknown"
    assert "boom" in found["X-1.broken"].message
    assert found["CONF-3.config_fields"].severity == "pass"


def test_a_silent_check_passes_with_its_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    def silent(facts: Facts) -> Iterator[Finding]:
        """Nothing is wrong."""
        yield from ()

    monkeypatch.setitem(base._REGISTRY, "X-1.silent", base.Check("X-1.silent", "silent", silent))
    (finding,) = run_checks(Facts(), ["silent"]).findings
    assert (finding.code, finding.severity, finding.message) == (
        "X-1.silent",
        "pass",
        "Nothing is wrong.",
    )


def test_two_checks_cannot_share_a_code() -> None:
    with pytest.raises(ValueError, match=r"Two checks are called DATA-1\.format"):
        base.check("DATA-1.format", group="data")(lambda facts: iter(()))


def test_the_report_is_one_object() -> None:
    document = run_checks(Facts(config=make_config()), ["config"]).to_dict()
    assert document["verdict"] == "pass"
    assert document["findings"][0].keys() == {"code", "severity", "message", "evidence", "advice"}
