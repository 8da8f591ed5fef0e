"""`safehold config approve` shows what would be approved, and asks."""

from collections.abc import Callable
from typing import Any

import pytest

from controlplane.common.models import Project, Role
from runs.models import Config
from safehold.api_client import ApiClient
from safehold.cli.main import run as run_command
from tests.factories import make_user
from tests.runs.api.bridging import client_of
from tests.runs.api.callers import Api
from tests.runs.proven import prove

Document = Callable[..., dict[str, Any]]


@pytest.fixture
def config(operator: Api, document: Document) -> Config:
    """Ask for the approval of a config that follows another one."""
    old = operator.post("configs", {"document": document(kind="production")}).json()["id"]
    body = {"document": document(kind="production", train__seed=7), "parent": old}
    made = operator.post("configs", body).json()["id"]
    operator.post(f"configs/{made}/freeze")
    found = Config.objects.get(pk=made)
    prove(found)
    operator.post(f"configs/{made}/request-approval", {"note": "For the long run."})
    return found


@pytest.fixture
def approver(project: Project, monkeypatch: pytest.MonkeyPatch) -> Api:
    found = Api(make_user(Role.APPROVER, project))
    monkeypatch.setattr(ApiClient, "from_environment", classmethod(lambda cls: client_of(found)))
    return found


@pytest.mark.parametrize(("answer", "code", "state"), [(True, 0, "approved"), (False, 2, "requested")])  # fmt: skip
def test_the_approver_sees_what_is_approved_and_is_asked(
    approver: Api,
    config: Config,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    answer: bool,
    code: int,
    state: str,
) -> None:
    asked: list[str] = []
    monkeypatch.setattr("safehold.cli.asking.can_ask", lambda: True)
    monkeypatch.setattr("safehold.cli.approval_sight.can_ask", lambda: True)

    def confirmed(text: str, err: bool) -> bool:
        asked.append(text)
        return answer

    monkeypatch.setattr("safehold.cli.asking.typer.confirm", confirmed)
    assert run_command(["config", "approve", str(config.pk)]) == code
    told = capfd.readouterr().err
    assert asked == [f"Approve config {config.pk} ({config.name}), digest {config.hash}?"]
    for part in ("Note: For the long run.", "Verdict: ", "Preflight: was not run", "Begins with: fresh weights", f"Changes: against config {config.parent_id}: "):  # fmt: skip
        assert part in told
    assert approver.get(f"configs/{config.pk}").json()["approval"] == state


def test_a_request_made_while_the_approver_thinks_is_not_approved(
    approver: Api,
    operator: Api,
    config: Config,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    def confirmed(text: str, err: bool) -> bool:
        operator.post(f"configs/{config.pk}/withdraw-approval", {"reason": "Another base."})
        operator.post(f"configs/{config.pk}/request-approval")
        return True

    monkeypatch.setattr("safehold.cli.asking.can_ask", lambda: True)
    monkeypatch.setattr("safehold.cli.approval_sight.can_ask", lambda: True)
    monkeypatch.setattr("safehold.cli.asking.typer.confirm", confirmed)
    assert run_command(["config", "approve", str(config.pk)]) == 2
    assert "was asked for anew since you looked" in capfd.readouterr().err


def test_without_a_terminal_yes_is_needed(
    approver: Api, config: Config, capfd: pytest.CaptureFixture[str]
) -> None:
    assert run_command(["config", "approve", str(config.pk)]) == 2
    assert "say --yes" in capfd.readouterr().err
    assert run_command(["config", "approve", str(config.pk), "--yes"]) == 0


def test_the_judgement_is_that_of_the_approval(operator: Api, document: Document) -> None:
    made = operator.post("configs", {"document": document(kind="production")}).json()["id"]
    found = operator.get(f"configs/{made}/judgement").json()
    assert [one["code"] for one in found["blocking"]] == ["CONF-3.proven_batch_and_lr"]
    assert (found["verdict"], found["report"]) == ("fail", None)
