from typing import Any

import pytest

from safehold.findings import Finding
from safehold.preflight import facts_of, run_checks
from tests.safehold.documents import make_document

CODE = "CONF-3.checkpoint_volume"


def asked(**changes: Any) -> Finding:
    (finding,) = run_checks(facts_of(make_document(**changes), [CODE]), [CODE]).findings
    return finding


def on_pods(*volumes: dict[str, Any]) -> Finding:
    return asked(compute__launcher="kubernetes", kubernetes__volumes=list(volumes))


def test_a_run_on_this_machine_needs_none() -> None:
    assert asked().severity == "pass"


def test_a_config_that_cannot_be_read_is_unknown() -> None:
    assert asked(optimizer__lr="x").severity == "unknown"


@pytest.mark.parametrize(
    ("volumes", "said"),
    [
        ([], "no volume of the config"),
        ([{"mount_path": "/check", "claim": "c"}], "no volume of the config"),
        ([{"mount_path": "/checkpoints"}], "the empty directory /checkpoints"),
        (
            [{"mount_path": "/c", "claim": "c"}, {"mount_path": "/checkpoints", "size": "1Gi"}],
            "empty",
        ),
        ([{"mount_path": "/checkpoints", "claim": "c", "read_only": True}], "read-only"),
    ],
)
def test_what_is_lost_with_the_pod_is_told(volumes: list[dict[str, Any]], said: str) -> None:
    finding = on_pods(*volumes)
    assert finding.severity == "warn"
    assert said in finding.message


def test_a_claim_passes() -> None:
    assert on_pods({"mount_path": "/checkpoints/", "claim": "c"}).severity == "pass"


def test_what_only_pods_see_is_unknown_and_not_missing() -> None:
    document = make_document(compute__launcher="kubernetes")
    report = run_checks(facts_of(document))
    severities = {one.code: one.severity for one in report.findings}
    assert report.verdict == "warn"
    assert {
        severities[code] for code in ("DATA-1.format", "TOK-1.lock", "CONF-3.checkpoint_path")
    } == {"unknown"}
