"""Which worker has a verification, for how long, and what becomes of one that never ends.

A claim is (row, number of tries): whoever comes back after its lease was given to another finds the
number changed and can neither report progress nor a result.
"""

from datetime import datetime, timedelta

from django.conf import settings
from django.db import transaction
from django.db.models import F, Q, QuerySet
from django.utils import timezone

from checkpoints.models import Checkpoint, Verification
from checkpoints.services import moves
from controlplane.common.queue import wake
from runs.services import events
from safehold.wire import tidy

# Each progress renews the lease; reading one piece of a slow volume must fit into it. A guess.
LEASE = timedelta(seconds=120)
# A request that is so young has its message under way. A guess.
_PATIENCE = timedelta(seconds=10)


@transaction.atomic
def claim(*, verification_id: int, worker: str) -> Verification | None:
    """Take the verification unless another worker has it, it is done, or it was tried too often.

    Returns:
        The claimed row with its checkpoint, or None: there is nothing to do.
    """
    now = timezone.now()
    free = Verification.objects.filter(pk=verification_id).filter(_free(now))
    spent = free.filter(num_tries__gte=settings.SAFEHOLD_VERIFY_TRIES)
    if given_up := spent.select_for_update().first():
        _give_up(given_up, given_up.error or f"{given_up.worker} vanished while verifying.")
        return None
    changes = {
        "state": Verification.State.RUNNING,
        "worker": worker[:120],
        "started_at": now,
        "lease_until": now + LEASE,
        "num_tries": F("num_tries") + 1,
        "progress_bytes": 0,
    }
    if not free.update(**changes):
        return None
    claimed = Verification.objects.select_related("checkpoint").get(pk=verification_id)
    moves.tell(claimed.checkpoint)
    return claimed


def note_progress(*, verification: Verification, done_bytes: int) -> bool:
    """Renew the lease and keep how far the worker came; False when the claim is lost."""
    return bool(
        _held(verification).update(progress_bytes=done_bytes, lease_until=timezone.now() + LEASE)
    )


@transaction.atomic
def release(*, verification: Verification, error: str) -> None:
    """Put the verification back after a failure that says nothing about the checkpoint.

    It is tried again until the limit; then it fails, and the checkpoint stays what it was.
    """
    error = str(tidy(error))
    held = _held(verification).select_for_update().first()
    if held is None:
        return
    if held.num_tries >= settings.SAFEHOLD_VERIFY_TRIES:
        _give_up(held, error)
        return
    held.state, held.error, held.lease_until = Verification.State.REQUESTED, error, None
    held.save(update_fields=["state", "error", "lease_until"])


def left_behind() -> list[int]:
    """Return the open verifications that no worker holds, oldest first; not those with a message under way."""
    now = timezone.now()
    asked = Q(lease_until=None, requested_at__lt=now - _PATIENCE) | Q(lease_until__lt=now)
    rows = Verification.objects.filter(_free(now)).filter(asked).order_by("requested_at")
    return list(rows.values_list("pk", flat=True)[:200])


def wake_left_behind() -> int:
    """Call a worker for each of them; return how many.

    Who has waited for long waits as long again before the next call: where the workers are busy for hours, calls would
    pile up without end.
    """
    found = left_behind()
    now = timezone.now()
    waiting = Verification.objects.filter(pk__in=found, state=Verification.State.REQUESTED)
    waiting.update(lease_until=now + (now - F("requested_at")))
    for verification_id in found:
        wake("workers.verify", verification_id=verification_id)
    return len(found)


def _give_up(verification: Verification, error: str) -> None:
    verification.state = Verification.State.FAILED
    verification.error = f"Given up after {verification.num_tries} tries: {error}"
    verification.ended_at, verification.lease_until = timezone.now(), None
    verification.save(update_fields=["state", "error", "ended_at", "lease_until"])
    checkpoint = (
        Checkpoint.objects.without_manifest()
        .select_related("run", "attempt")
        .get(pk=verification.checkpoint_id)
    )
    events.record(
        run=checkpoint.run,
        attempt=checkpoint.attempt,
        kind="checkpoint",
        message=f"Checkpoint of step {checkpoint.step} could not be verified. {verification.error}",
        data=moves.facts(checkpoint),
    )
    moves.tell(checkpoint)


def _free(now: datetime) -> Q:
    return Q(state=Verification.State.REQUESTED) | Q(
        state=Verification.State.RUNNING, lease_until__lt=now
    )


def _held(verification: Verification) -> QuerySet[Verification]:
    return Verification.objects.filter(
        pk=verification.pk,
        state=Verification.State.RUNNING,
        num_tries=verification.num_tries,
    )
