"""Verifying the audit trail once a day, so that the page can say when that was last done."""

import logging

from celery import shared_task

from controlplane.common.services import audit_checks

logger = logging.getLogger(__name__)


@shared_task(name="workers.verify_audit", time_limit=3600)
def verify_audit() -> None:
    """Verify the whole chain; what it finds stands on the page and in the log."""
    made = audit_checks.check()
    if made.num_faults:
        logger.error(
            "audit.history_changed",
            extra={"num_faults": made.num_faults, "faults": made.faults[:5]},
        )
