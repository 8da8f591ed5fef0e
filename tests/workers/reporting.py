"""Launched runs and trainers that report, for tests of passes."""

from django.utils import timezone

from controlplane.common.models import Role, User
from runs.models import Attempt, Command, Run
from runs.services import contact, runs
from tests.factories import make_config, make_project, make_run, make_user
from tests.workers.scripted import Scripted
from workers.passes import reconcile_run


class Killed(BaseException):
    """The worker's process is gone: nothing behind this line happens."""


def launched() -> tuple[Run, User]:
    project = make_project()
    user = make_user(Role.OPERATOR, project)
    run = make_run(config=make_config(project=project, created_by=user), created_by=user)
    runs.request_launch(run=run, user=user)
    return run, user


def newest(run: Run) -> Attempt:
    attempt = run.attempts.first()
    assert attempt is not None
    return attempt


def beat(attempt: Attempt, phase: str = "training") -> None:
    """Let the trainer report, as ingest notes it."""
    Attempt.objects.filter(pk=attempt.pk).update(last_seen_at=timezone.now(), phase=phase)
    contact.follow_phase(attempt=Attempt.objects.get(pk=attempt.pk), phase=phase)


def obey(attempt: Attempt) -> None:
    """Let the trainer report its commands as applied."""
    Command.objects.filter(attempt=attempt, done_at=None).update(
        done_at=timezone.now(), result="applied"
    )


def make_ended(run: Run, scripted: Scripted) -> Attempt:
    reconcile_run(run.pk)
    scripted.exit(newest(run).name, "failed")
    reconcile_run(run.pk)
    return newest(run)
