"""What is done again and again, so that nothing depends on one message or on one worker's life."""

import logging

from checkpoints.models import Checkpoint
from checkpoints.services import claims, moves, registry, stability, verification
from checkpoints.states import State
from runs.models import Attempt

logger = logging.getLogger(__name__)
# One sweep does at most so much of each; the next one goes on.
_A_SWEEP = 200


def sweep() -> dict[str, int]:
    """Do all of it once; return how much of each was done.

    Saves cut short by the end of their attempt are closed, saved ones without any verification get
    one, verifications without a worker are handed out, and what stayed healthy becomes stable.
    """
    counts = {
        "interrupted": _close_interrupted(),
        "requested": _request_missing(),
        "woken": claims.wake_left_behind(),
        "stable": stability.judge_verified(),
    }
    if any(counts.values()):
        logger.info("checkpoints.swept", extra=counts)
    return counts


def _close_interrupted() -> int:
    rows = Checkpoint.objects.filter(state=State.WRITING, attempt__state=Attempt.State.ENDED)
    closed = 0
    for checkpoint in rows.select_related("run", "attempt").order_by("pk")[:_A_SWEEP]:
        try:
            registry.fail_interrupted(checkpoint=checkpoint)
        except moves.StaleState:  # another sweep was quicker
            continue
        closed += 1
    return closed


def _request_missing() -> int:
    rows = Checkpoint.objects.without_manifest().filter(state=State.COMPLETE, verifications=None)
    missing = list(rows.select_related("run", "attempt").order_by("pk")[:_A_SWEEP])
    for checkpoint in missing:
        verification.request(checkpoint=checkpoint)
    return len(missing)
