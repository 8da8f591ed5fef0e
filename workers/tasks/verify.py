"""Proving checkpoints in the background.

The proof runs in the task itself, through the function behind `safehold verify`: it reads at the speed
of the storage, needs little memory at any size, and runs nothing from the files. A lease, renewed by
its progress, says who has it; a worker that dies loses it and another one begins again.
"""

import logging
import os
import socket
import time

from celery import shared_task

from checkpoints.models import Verification
from checkpoints.services import claims, sweep, verification
from workers import proving

logger = logging.getLogger(__name__)
_SECONDS_BETWEEN_PROGRESS = 1.0


class LeaseLost(Exception):
    """Another worker has the verification now."""


@shared_task(name="workers.verify")
def verify(*, verification_id: int) -> None:
    """Verify one checkpoint unless somebody else does; safe to repeat and to kill at any line."""
    claimed = claims.claim(verification_id=verification_id, worker=_name())
    if claimed is None:
        return
    try:
        proof = proving.prove(claimed.checkpoint, _Reporter(claimed))
    except LeaseLost:
        logger.warning("verification.lost", extra={"verification_id": verification_id})
        return
    except OSError as error:  # the storage's fault: tried again
        claims.release(verification=claimed, error=str(error))
        return
    except Exception as error:
        claims.release(verification=claimed, error=f"{type(error).__name__}: {error}")
        raise
    is_kept = verification.record(
        verification=claimed, verdict=proof.verdict, findings=proof.findings, facts=proof.facts
    )
    extra = {"verification_id": verification_id, "verdict": proof.verdict, "is_kept": is_kept}
    logger.info("checkpoint.verified", extra=extra)


@shared_task(name="workers.verify_left_behind")
def verify_left_behind() -> None:
    """Find what lost messages and dead workers left, and promote what stayed healthy."""
    sweep.sweep()


class _Reporter:
    """Keeps the progress in the row, at most once a second."""

    def __init__(self, claimed: Verification) -> None:
        self._claimed = claimed
        self._told_at = time.monotonic()

    def __call__(self, done_bytes: int, total_bytes: int) -> None:
        now = time.monotonic()
        if now - self._told_at < _SECONDS_BETWEEN_PROGRESS:
            return
        self._told_at = now
        if not claims.note_progress(verification=self._claimed, done_bytes=done_bytes):
            raise LeaseLost


def _name() -> str:
    return f"{socket.gethostname()} pid {os.getpid()}"
