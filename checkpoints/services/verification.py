"""Asking for a proof of a checkpoint, and keeping its result."""

from collections.abc import Iterable, Mapping
from typing import Any

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from checkpoints.models import Checkpoint, Verification
from checkpoints.services import moves
from checkpoints.states import State, after_verification
from checkpoints.words import word_of
from controlplane.common import access, audit
from controlplane.common.errors import Conflict
from controlplane.common.models import User
from controlplane.common.queue import wake
from runs.services import events
from safehold.findings import Finding
from safehold.wire import tidy

TASK = "workers.verify"


@transaction.atomic
def request(*, checkpoint: Checkpoint, user: User | None = None) -> Verification:
    """Ask for a verification, or return the one that is open.

    Args:
        checkpoint: What to verify.
        user: Who asked; None when it follows from a save.

    Raises:
        Conflict: There are no bytes to verify.
    """
    if user is not None:
        access.require(user, checkpoint.run.project_id, "checkpoint.verify")
    if not checkpoint.is_saved:
        raise Conflict(
            _("Checkpoint %(id)s is %(state)s: there is nothing to verify.")
            % {"id": checkpoint.pk, "state": word_of(checkpoint.state)},
            hint=_("Only a saved checkpoint can be verified."),
        )
    verification, is_new = Verification.objects.get_or_create(
        checkpoint=checkpoint,
        state__in=[Verification.State.REQUESTED, Verification.State.RUNNING],
        defaults={"requested_by": user, "requested_at": timezone.now()},
    )
    if is_new and user is not None:
        _audit(checkpoint, user)
    wake(TASK, verification_id=verification.pk)
    moves.tell(checkpoint)
    return verification


@transaction.atomic
def record(
    *,
    verification: Verification,
    verdict: str,
    findings: Iterable[Finding],
    facts: Mapping[str, Any],
) -> bool:
    """Keep the result of the claim once and move the checkpoint accordingly.

    Returns:
        False when the claim was lost: another worker has the verification, or it is done.
    """
    moves.hold_run(verification.checkpoint.run_id)
    # Names in the files are anybody's, and may hold what the database cannot.
    stored = [tidy(finding.to_dict()) for finding in findings]
    held = Verification.objects.filter(
        pk=verification.pk,
        state=Verification.State.RUNNING,
        num_tries=verification.num_tries,
    )
    changes = {
        "state": Verification.State.DONE,
        "verdict": verdict,
        "findings": stored,
        "facts": tidy(dict(facts)),
        "ended_at": timezone.now(),
        "lease_until": None,
        "error": "",
    }
    if not held.update(**changes):
        return False
    _apply(verification.checkpoint_id, is_whole=verdict != "fail", findings=stored)
    return True


def _apply(checkpoint_id: int, *, is_whole: bool, findings: list[dict[str, Any]]) -> None:
    checkpoint = (
        Checkpoint.objects.without_manifest()
        .select_for_update(of=("self",), no_key=True)
        .select_related("run", "attempt")
        .get(pk=checkpoint_id)
    )
    if not checkpoint.is_saved:  # it is being deleted: the result is kept, the state is not ours
        return
    if is_whole:
        checkpoint.verified_at = timezone.now()
        checkpoint.save(update_fields=["verified_at"])
    old = State(checkpoint.state)
    new = after_verification(old, is_whole=is_whole)
    if new is old:
        moves.tell(checkpoint)
        return
    moves.move(checkpoint=checkpoint, to=new)
    _event(checkpoint, _sentence(checkpoint, findings), findings)


def _sentence(checkpoint: Checkpoint, findings: list[dict[str, Any]]) -> str:
    if checkpoint.state != State.DAMAGED:
        return f"Checkpoint of step {checkpoint.step} was verified."
    reasons = [finding["message"] for finding in findings if finding["severity"] == "fail"]
    reason = reasons[0] if reasons else "The verification did not pass."
    return f"Checkpoint of step {checkpoint.step} is damaged: {reason}"


def _event(checkpoint: Checkpoint, message: str, findings: list[dict[str, Any]]) -> None:
    codes = [item["code"] for item in findings if item["severity"] in {"fail", "warn"}]
    events.record(
        run=checkpoint.run,
        attempt=checkpoint.attempt,
        kind="checkpoint",
        message=message,
        data={**moves.facts(checkpoint), "codes": codes},
    )


def _audit(checkpoint: Checkpoint, user: User) -> None:
    audit.record(
        actor=user,
        action="checkpoint.verify",
        object=checkpoint,
        project_id=checkpoint.run.project_id,
        data={"run": checkpoint.run_id, "step": checkpoint.step},
    )
