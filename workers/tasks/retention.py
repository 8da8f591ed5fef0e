"""Deleting what was marked for it once its time of grace is over."""

from celery import shared_task

from runs.services import run_shelf


@shared_task(name="workers.delete_due_runs", time_limit=3600)
def delete_due_runs() -> None:
    """Delete what the due runs have stored; each in a transaction of its own, safe to repeat."""
    for run_id in run_shelf.due_runs():
        run_shelf.delete_due(run_id=run_id)
