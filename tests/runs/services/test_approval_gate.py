"""What keeps a production config from being approved, by whatever path."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from controlplane.common.errors import Conflict
from controlplane.common.models import Role, User
from runs.models import Approval, Config
from runs.services import approval_gate, approvals, configs
from tests.factories import make_project, make_user, pass_preflight
from tests.runs.corpus import documents_on
from tests.runs.proven import prove

pytestmark = pytest.mark.django_db


@pytest.fixture
def author() -> User:
    return make_user(Role.OPERATOR, make_project())


@pytest.fixture
def asked(author: User, tmp_path: Path) -> Callable[..., Approval]:
    documents = documents_on(tmp_path)
    project = author.memberships.get().project

    def asked(is_proven: bool = True, **changes: Any) -> Approval:
        document = documents(kind="production", **changes)
        config = configs.create_config(user=author, project=project, document=document)
        if is_proven:
            prove(config)
        configs.freeze(user=author, config=config)
        return approvals.request_approval(user=author, config=config)

    return asked


def approve(asked: Approval) -> Approval:
    approver = make_user(Role.APPROVER, asked.config.project)
    return approvals.approve(user=approver, approval=asked)


def failing(config: Config, severity: str = "fail") -> None:
    report = pass_preflight(config, "fail")
    report.findings = [
        {"code": "DATA-1.format", "severity": severity, "message": "Line 3 is broken.", "evidence": {}, "advice": ""}
    ]  # fmt: skip
    report.save(update_fields=["findings"])


def test_what_nothing_speaks_against_is_approved(asked: Callable[..., Approval]) -> None:
    request = asked()
    assert approval_gate.judge(request.config).blocking == []
    assert approve(request).state == "approved"


def test_a_warning_does_not_block(asked: Callable[..., Approval]) -> None:
    request = asked(optimizer__weight_decay=0.3)
    assert approval_gate.judge(request.config).verdict == "warn"
    assert approve(request).state == "approved"


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ({"is_proven": False}, "CONF-3.proven_batch_and_lr"),
        ({"optimizer__lr": 0.5, "optimizer__min_lr": 0.05}, "CONF-5.learning_rate"),
        ({"train__precision": "fp16", "train__loss_scaling": "static"}, "CONF-5.precision"),
    ],
)
def test_a_rule_that_fails_blocks_and_is_named(
    asked: Callable[..., Approval], given: dict[str, Any], code: str
) -> None:
    request = asked(**given)
    with pytest.raises(Conflict, match="1 finding blocks it") as refused:
        approve(request)
    assert refused.value.code == "approval-blocked"
    assert code in refused.value.hint
    assert [one["code"] for one in refused.value.extra["findings"]] == [code]
    request.refresh_from_db()
    assert request.state == "requested"


@pytest.mark.parametrize("severity", ["fail", "unknown"])
def test_what_preflight_found_blocks_until_it_is_run_again(
    asked: Callable[..., Approval], severity: str
) -> None:
    request = asked()
    failing(request.config, severity)
    with pytest.raises(Conflict, match="cannot be approved"):
        approve(request)
    pass_preflight(request.config)
    assert approve(request).state == "approved"


def test_a_failure_does_not_keep_anybody_from_refusing(asked: Callable[..., Approval]) -> None:
    request = asked(is_proven=False)
    approver = make_user(Role.APPROVER, request.config.project)
    refused = approvals.reject(user=approver, approval=request, reason="Prove it first.")
    assert refused.state == "rejected"
