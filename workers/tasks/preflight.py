"""Read the data of a config where the worker sees them, and judge it."""

from celery import shared_task

from runs.services import checking


@shared_task(name="workers.preflight", acks_late=True)
def preflight(*, report_id: int) -> None:
    """Run the checks of one report; safe to repeat, since the report is claimed with a lease."""
    checking.carry_out(report_id=report_id)


@shared_task(name="workers.preflight_left_behind")
def preflight_left_behind() -> None:
    """Wake again what nobody works on."""
    checking.wake_left_behind()
