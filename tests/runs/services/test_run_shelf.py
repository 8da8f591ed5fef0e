from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from controlplane.common.errors import Conflict, Forbidden
from controlplane.common.models import AuditEntry, Project, Role, User
from runs.models import LogChunk, MetricBatch, MetricChunk, Run, Series
from runs.services import ingest, metrics, run_shelf, runs
from tests.factories import make_attempt, make_run, make_user
from tests.runs.ingest.posting import make_batch
from workers.tasks.retention import delete_due_runs


@pytest.fixture
def admin(project: Project) -> User:
    return make_user(Role.ADMIN, project)


@pytest.fixture
def run(project: Project) -> Run:
    """A run that ended, with points in chunks and in batches, and a log."""
    run = make_run(project=project)
    attempt = make_attempt(run=run, state="ended", outcome="stopped", ended_at=timezone.now())
    ingest.store_batch(attempt=attempt, batch=make_batch(5))
    metrics.compact_attempt(attempt.pk)
    ingest.store_batch(attempt=attempt, batch=make_batch(5, first_seq=6, first_step=6))
    LogChunk.objects.create(
        attempt=attempt, source="rank-0", offset=0, size=1, data=b"x", received_at=timezone.now()
    )
    return run


def marked(run: Run, admin: User) -> Run:
    run_shelf.archive_run(run=run, user=admin)
    return run_shelf.request_deletion(run=run, user=admin)


def test_deletion_takes_two_steps_and_a_time_of_grace(run: Run, admin: User, settings: Any) -> None:
    with pytest.raises(Conflict, match="not archived"):
        run_shelf.request_deletion(run=run, user=admin)
    held = marked(run, admin)
    assert held.delete_after is not None
    days = settings.SAFEHOLD_RUN_RETENTION_DAYS
    assert timedelta(days=days - 1) < held.delete_after - timezone.now() <= timedelta(days=days)
    assert run_shelf.due_runs() == []
    delete_due_runs()
    assert Series.objects.exists()


def test_what_is_due_is_deleted_and_the_record_stays(run: Run, admin: User) -> None:
    marked(run, admin)
    Run.objects.update(delete_after=timezone.now())
    delete_due_runs()
    delete_due_runs()
    for model in (MetricBatch, MetricChunk, Series, LogChunk):
        assert not model.objects.exists()
    run.refresh_from_db()
    assert run.is_deleted
    assert run.attempts.count() == 1
    assert run.events.filter(kind="deleted").count() == 1
    with pytest.raises(Conflict, match="only its record is left"):
        run_shelf.unarchive_run(run=run, user=admin)


def test_what_is_kept_or_brought_back_is_not_deleted(run: Run, admin: User) -> None:
    marked(run, admin)
    run_shelf.keep_run(run=run, user=admin)
    assert run.delete_after is None
    run_shelf.request_deletion(run=run, user=admin)
    run_shelf.unarchive_run(run=run, user=admin)
    run.refresh_from_db()
    assert (run.archived_at, run.delete_after) == (None, None)


def test_every_act_is_in_the_trail(run: Run, admin: User) -> None:
    marked(run, admin)
    run_shelf.keep_run(run=run, user=admin)
    run_shelf.unarchive_run(run=run, user=admin)
    actions = AuditEntry.objects.filter(object_type="run").order_by("pk")
    assert list(actions.values_list("action", flat=True)) == [
        "run.archive",
        "run.delete",
        "run.keep",
        "run.unarchive",
    ]


def test_what_trains_is_not_archived_and_the_archive_is_not_launched(
    project: Project, admin: User
) -> None:
    busy = make_run(project=project)
    make_attempt(run=busy, state="running")
    with pytest.raises(Conflict, match="has not ended"):
        run_shelf.archive_run(run=busy, user=admin)
    draft = make_run(project=project)
    run_shelf.archive_run(run=draft, user=admin)
    with pytest.raises(Conflict, match="in the archive"):
        runs.request_launch(run=draft, user=admin)


def test_an_operator_archives_but_deletes_nothing(run: Run, project: Project) -> None:
    operator = make_user(Role.OPERATOR, project)
    run_shelf.archive_run(run=run, user=operator)
    with pytest.raises(Forbidden):
        run_shelf.request_deletion(run=run, user=operator)
