from __future__ import annotations

import pytest

from safehold.findings import Finding, fail, info, passed, unknown, verdict, warn


def test_a_finding_comes_back_from_its_map() -> None:
    finding = fail("No room.", code="CONF-3.disk_room", evidence={"free": 3}, advice="Delete.")
    assert Finding.from_dict(finding.to_dict()) == finding


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({"code": "a"}, "needs severity, message"),
        ({"code": "a", "severity": "awful", "message": "m"}, "severity is 'awful'"),
    ],
)
def test_a_wrong_map_says_what_is_wrong(data: dict[str, str], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Finding.from_dict(data)


def test_the_worst_finding_decides() -> None:
    assert verdict([]) == "pass"
    assert verdict([passed("p"), info("i")]) == "pass"
    assert verdict([passed("p"), warn("w")]) == "warn"
    assert verdict([warn("w"), fail("f")]) == "fail"


def test_a_missing_fact_blocks_production_only() -> None:
    assert verdict([unknown("u")]) == "warn"
    assert verdict([unknown("u")], production=True) == "fail"
