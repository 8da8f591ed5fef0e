"""The buttons on a config's page: freeze, ask, approve by a second person, refuse, take back."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from controlplane.common.errors import Conflict
from controlplane.common.models import Role
from runs.models import Approval, Config, PreflightReport
from runs.services import approval_gate, approvals, configs, open_approvals
from tests.factories import make_user
from tests.runs.corpus import documents_on
from tests.runs.proven import prove
from tests.runs.views.people import People


@pytest.fixture
def config(people: People, tmp_path: Path) -> Config:
    document = documents_on(tmp_path)(kind="production")
    return prove(
        configs.create_config(user=people.operator_user, project=people.project, document=document)
    )


@pytest.fixture
def press(config: Config) -> Callable[..., str]:
    def press(client: Client, act: str, reason: str = "") -> str:
        answer = client.post(f"/configs/{config.pk}/{act}/act/", {"reason": reason}, follow=True)
        return str(answer.content.decode())

    return press


@pytest.fixture
def approver(people: People) -> Client:
    client = Client()
    client.force_login(make_user(Role.APPROVER, people.project))
    return client


def state(config: Config) -> str:
    return Approval.objects.get(config=config).state


def test_frozen_asked_and_approved_by_another_person(
    people: People, config: Config, press: Callable[..., str], approver: Client
) -> None:
    assert "The config is frozen" in press(people.operator, "freeze")
    page = press(people.operator, "request-approval", "For the long run.")
    assert "Another person has to approve it" in page
    assert "Approve</button>" not in page
    seen = approver.get(f"/configs/{config.pk}/").content.decode()
    assert "Approve</button>" in seen
    assert "For the long run." in seen
    assert "The config is approved." in press(approver, "approve", "Looks right.")
    assert state(config) == "approved"


def test_who_asked_cannot_approve(
    people: People, config: Config, press: Callable[..., str]
) -> None:
    press(people.operator, "freeze")
    press(people.operator, "request-approval")
    assert "needs the role approver" in press(people.operator, "approve")
    assert state(config) == "requested"


def test_a_refusal_needs_its_reason(
    people: People, config: Config, press: Callable[..., str], approver: Client
) -> None:
    press(people.operator, "freeze")
    press(people.operator, "request-approval")
    assert "A refusal needs its reason." in press(approver, "reject")
    assert "The approval was refused." in press(approver, "reject", "The rate.")
    assert state(config) == "rejected"


def test_an_approval_can_be_taken_back(
    people: People, config: Config, press: Callable[..., str], approver: Client
) -> None:
    press(people.operator, "freeze")
    press(people.operator, "request-approval")
    press(approver, "approve")
    assert "was taken back" in press(approver, "withdraw", "A fault.")
    assert state(config) == "withdrawn"


def test_what_is_not_frozen_is_not_approved(
    people: People, config: Config, press: Callable[..., str], approver: Client
) -> None:
    assert "is not frozen" in press(people.operator, "request-approval")
    assert "Nobody asked" in press(approver, "approve")
    assert people.operator.post(f"/configs/{config.pk}/destroy/act/").status_code == 404


def test_viewers_and_outsiders_have_no_part(
    people: People, config: Config, press: Callable[..., Any]
) -> None:
    press(people.viewer, "freeze")
    config.refresh_from_db()
    assert config.frozen_at is None
    assert people.outsider.post(f"/configs/{config.pk}/freeze/act/").status_code == 404


def test_an_approver_hears_of_what_waits_where_she_arrives(
    people: People, config: Config, press: Callable[..., str], approver: Client
) -> None:
    def page(client: Client) -> str:
        return str(client.get("/runs/").content.decode())

    press(people.operator, "freeze")
    assert "waits for your approval" not in page(approver)
    press(people.operator, "request-approval")
    assert '<a href="/configs/?approval=requested">1 config waits for your approval</a>' in page(
        approver
    )
    assert "waits for your approval" not in page(people.operator)
    press(approver, "approve")
    assert "waits for your approval" not in page(approver)


def test_nobody_is_told_of_what_she_asked_for_herself(people: People, config: Config) -> None:
    admin = make_user(Role.ADMIN, people.project)
    approvals.request_approval(config=configs.freeze(config=config, user=admin), user=admin)
    assert open_approvals.count_for(admin, people.project) == 0
    assert open_approvals.count_for(make_user(Role.APPROVER, people.project), people.project) == 1


def test_a_start_before_the_approval_is_told_what_is_missing_now(
    people: People, config: Config, press: Callable[..., str]
) -> None:
    def hint() -> str:
        config.refresh_from_db()
        with pytest.raises(Conflict) as refused:
            approvals.require_approved(config=config, user=people.operator_user)
        return str(refused.value.hint)

    press(people.operator, "freeze")
    assert hint() == "Ask for approval; another person gives it."
    press(people.operator, "request-approval")
    assert hint().startswith("Its approval is asked for; an approver who neither wrote it")


def test_a_report_that_blocked_by_rules_met_since_says_so(people: People, config: Config) -> None:
    PreflightReport.objects.create(
        config=config, config_hash=config.hash, state="done", verdict="fail", only=[],
        requested_by=people.operator_user,
        findings=[
            {
                "code": "CONF-3.proven_batch_and_lr", "severity": "fail", "message": "Not proven.",
                "evidence": {}, "advice": "",
            }
        ],
    )  # fmt: skip
    page = people.viewer.get(f"/configs/{config.pk}/").content.decode()
    assert "Nothing blocks the approval." in page
    assert "what blocked it is met by now" in page


def test_a_document_that_is_not_read_any_more_stays_as_its_report_judged_it(
    people: People, config: Config, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = {
        "code": "CONF-5.warmup",
        "severity": "fail",
        "message": "No.",
        "evidence": {},
        "advice": "",
    }
    PreflightReport.objects.create(
        config=config, config_hash=config.hash, state="done", verdict="fail", only=[],
        requested_by=people.operator_user, findings=[told],
    )  # fmt: skip
    monkeypatch.setattr("runs.services.rule_facts.read", lambda config: None)
    assert [one["code"] for one in approval_gate.judge(config).blocking] == ["CONF-5.warmup"]


def test_what_is_approved_is_the_request_that_the_page_showed(
    people: People, config: Config, press: Callable[..., str], approver: Client
) -> None:
    press(people.operator, "freeze")
    press(people.operator, "request-approval")
    shown = Approval.objects.get(config=config).pk
    assert (
        f'name="approval" value="{shown}"'
        in approver.get(f"/configs/{config.pk}/").content.decode()
    )
    press(people.operator, "withdraw", "Another base.")
    press(people.operator, "request-approval")
    path = f"/configs/{config.pk}/approve/act/"
    page = approver.post(path, {"approval": shown}, follow=True).content.decode()
    assert "was asked for anew since you looked" in page
    assert Approval.objects.filter(state="approved").count() == 0
