"""No path goes round the gate: whoever asks for a first attempt meets preflight's verdict."""

import contextlib
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from controlplane.common.errors import Conflict, Invalid, SafeholdError
from controlplane.common.models import AuditEntry, Role
from runs.models import Attempt, Config, Run, Waiver
from runs.services import attempts, configs, launch_gate, preflight, runs
from tests.factories import make_attempt, make_config, make_run, make_user, pass_preflight
from tests.runs.api.callers import Api
from tests.runs.corpus import documents_on
from workers.passes import reconcile_run

pytestmark = pytest.mark.django_db
Start = Callable[[Run], object]


@pytest.fixture
def broken(tmp_path: Path) -> Config:
    """A config whose data are not there."""
    made = make_config()
    document = documents_on(tmp_path)(data__path=str(tmp_path / "nowhere"))
    return configs.create_config(user=made.created_by, project=made.project, document=document)


def run_of(config: Config) -> Run:
    return runs.create_run(user=config.created_by, project=config.project, config=config)


def by_service(run: Run) -> object:
    return runs.request_launch(run=run, user=run.created_by)


def by_preflight(run: Run) -> object:
    return preflight.launch(run=run, user=run.created_by)


def by_attempt(run: Run) -> object:
    return attempts.create_attempt(run=run)


def by_resume(run: Run) -> object:
    return runs.request_resume(run=run, user=run.created_by)


def by_fork(run: Run) -> object:
    start = {"id": 1, "path": "/c/1", "run": run.pk, "step": 1}
    fork = runs.create_run(
        user=run.created_by, project=run.project, config=run.config, parent=run, from_checkpoint=start,
    )  # fmt: skip
    return runs.request_launch(run=fork, user=run.created_by)


def by_api(run: Run) -> object:
    answer = Api(run.created_by).post(f"runs/{run.pk}/launch")
    assert answer.status_code in {409, 422}
    return answer


def by_page(run: Run) -> object:
    client = Client()
    client.force_login(run.created_by)
    return client.post(f"/runs/{run.pk}/launch/")


def by_form(run: Run) -> object:
    client = Client()
    client.force_login(run.created_by)
    return client.post("/runs/new/", {"config": run.config_id, "launcher": "local", "name": ""})


def by_reconciliation(run: Run) -> object:
    Run.objects.filter(pk=run.pk).update(desired="running", needs_reconcile=True)
    return reconcile_run(run.pk)


@pytest.mark.parametrize(
    "start",
    [by_service, by_preflight, by_attempt, by_resume, by_fork, by_api, by_page, by_form, by_reconciliation],
)  # fmt: skip
def test_no_path_starts_what_preflight_refuses(broken: Config, start: Start) -> None:
    run = run_of(broken)
    with contextlib.suppress(Conflict, Invalid):
        start(run)
    assert not Attempt.objects.exists()


def test_a_green_verdict_lets_it_start() -> None:
    run = make_run(passed=False)
    pass_preflight(run.config, "warn")
    assert attempts.create_attempt(run=run).number == 1


@pytest.mark.parametrize(
    ("verdict", "changes", "error", "code"),
    [
        ("fail", {}, Invalid, "preflight-failed"),
        ("pass", {"ended_at": timezone.now() - timedelta(days=2)}, Conflict, "preflight-missing"),
        ("pass", {"config_hash": "another"}, Conflict, "preflight-missing"),
        ("pass", {"only": ["config"]}, Conflict, "preflight-missing"),
        ("pass", {"state": "running"}, Conflict, "preflight-missing"),
    ],
)
def test_only_a_whole_fresh_verdict_of_this_very_document_counts(
    verdict: str, changes: dict[str, Any], error: type[SafeholdError], code: str
) -> None:
    run = make_run(passed=False)
    report = pass_preflight(run.config, verdict)
    type(report).objects.filter(pk=report.pk).update(**changes)
    with pytest.raises(error) as refused:
        attempts.create_attempt(run=run)
    assert refused.value.code == code


def test_a_later_attempt_trains_the_document_that_passed() -> None:
    run = make_run(passed=False)
    make_attempt(run=run, state="ended", outcome="failed", ended_at=timezone.now())
    assert attempts.create_attempt(run=run).number == 2


def test_an_experiment_is_let_through_with_name_and_reason(broken: Config) -> None:
    run, user = run_of(broken), broken.created_by
    preflight.launch(run=run, user=user, waiver="the data arrive at ten")
    waiver = Waiver.objects.get(run=run)
    assert (waiver.waived_by, waiver.reason) == (user, "the data arrive at ten")
    assert Attempt.objects.get().run == run
    assert run.events.filter(kind="preflight_waived", message__contains="arrive at ten").exists()
    assert AuditEntry.objects.filter(action="run.waive_preflight").exists()
    again = run_of(broken)
    with pytest.raises(Invalid):
        by_service(again)


def test_a_waiver_is_of_one_document_only(broken: Config) -> None:
    run = run_of(broken)
    report = preflight.gate(config=broken, launcher="local", user=broken.created_by)
    launch_gate.waive(run=run, user=broken.created_by, report=report, reason="why not")
    Waiver.objects.update(config_hash="another")
    with pytest.raises(Invalid, match="failed"):
        by_service(run)


def test_nobody_waives_preflight_of_production(broken: Config) -> None:
    Config.objects.filter(pk=broken.pk).update(kind=Config.Kind.PRODUCTION)
    broken.refresh_from_db()
    run = make_run(config=broken, passed=False)
    report = pass_preflight(broken, "fail")
    with pytest.raises(Conflict, match="cannot be waived"):
        launch_gate.waive(run=run, user=broken.created_by, report=report, reason="hurry")


def test_a_waiver_without_a_reason_or_by_a_viewer_is_refused(broken: Config) -> None:
    run, report = run_of(broken), pass_preflight(broken, "fail")
    with pytest.raises(Invalid, match="needs a reason"):
        launch_gate.waive(run=run, user=broken.created_by, report=report, reason="  ")
    viewer = make_user(Role.VIEWER, broken.project)
    with pytest.raises(SafeholdError, match="role|may not|operator"):
        launch_gate.waive(run=run, user=viewer, report=report, reason="please")


def test_page_and_api_take_the_reason(broken: Config) -> None:
    client = Client()
    client.force_login(broken.created_by)
    typed = {"config": broken.pk, "launcher": "local", "name": ""}
    page = client.post("/runs/new/", typed).content.decode()
    assert 'name="waiver"' in page
    client.post("/runs/new/", typed | {"waiver": "I know"})
    assert Waiver.objects.get().reason == "I know"
    run = run_of(broken)
    answer = Api(broken.created_by).post(f"runs/{run.pk}/launch", {"waiver": "I know too"})
    assert answer.status_code == 202
    assert run.attempts.count() == 1
