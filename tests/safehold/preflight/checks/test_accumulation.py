import pytest

from safehold.preflight import Facts, run_checks
from tests.safehold.documents import make_config


def severities(**changes: object) -> set[str]:
    report = run_checks(Facts(config=make_config(**changes)), ["CONF-7.accumulation"])
    return {one.severity for one in report.findings}


@pytest.mark.parametrize(
    "changes", [{"train__divide_loss": False}, {"train__clip_at": "micro_batch"}]
)
def test_what_is_declared_wrong_fails_where_micro_batches_are_added_up(changes: dict) -> None:
    assert "fail" in severities(train__accumulation=2, **changes)
    assert severities(**changes) == {"pass"}


def test_what_is_declared_right_passes() -> None:
    assert severities(train__accumulation=2) == {"pass"}
