"""Carrying out what was decided. Every action may be repeated, and none is done on facts that have changed.

Effects outside happen outside of transactions. Records are changed under the locks of run and attempt,
after a look whether both are still what the decision was made of.
"""

import hashlib
import logging
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import singledispatch

from django.db import transaction
from django.utils import timezone

from controlplane.common.errors import Conflict, SafeholdError
from runs import states
from runs.models import Attempt, Run
from runs.services import (
    approvals,
    attempt_tokens,
    attempts,
    commands,
    contact,
    events,
    resume_points,
    runs,
)
from workers import facts, loading, patience, specs
from workers.launchers.base import Launcher, LauncherError, Observation, Presence
from workers.reconcile import decide

logger = logging.getLogger(__name__)
_BEFORE_THE_START = {states.State.REQUESTED, states.State.SUBMITTING, states.State.WAITING}


class Stale(Exception):
    """The records changed after the decision; look and decide again."""


@dataclass
class Scene:
    """What the decision was made of, and the launcher that can act on it."""

    run: Run
    attempt: Attempt | None
    facts: facts.RunFacts
    seen: Observation
    launcher: Launcher

    @property
    def the_attempt(self) -> Attempt:
        """The attempt of an action that is only ever decided for one."""
        assert self.attempt is not None
        return self.attempt


@singledispatch
def carry_out(action: facts.Action, scene: Scene) -> None:
    """Carry out one action.

    Raises:
        Stale: The records are no longer what the decision was made of.
        LauncherError: The launcher could not do it.
    """
    raise NotImplementedError(type(action).__name__)


@carry_out.register
def _submit(action: facts.Submit, scene: Scene) -> None:
    attempt = scene.the_attempt
    try:
        handle = scene.launcher.start(specs.spec_of(attempt))
    except LauncherError as error:
        patience.record_launch_trouble(scene.run, attempt.number, error)
        logger.warning("attempt.not_started", extra=_extra(scene) | {"error": str(error)})
        return
    attempts.record_handle(attempt=attempt, handle=handle, where=attempt.where)
    patience.forget_launch_trouble(scene.run)
    logger.info("attempt.started", extra=_extra(scene))


@carry_out.register
def _record_handle(action: facts.RecordHandle, scene: Scene) -> None:
    attempt, seen = scene.the_attempt, scene.seen
    handle = seen.handle or attempt.handle or {"name": attempt.name}
    attempts.record_handle(attempt=attempt, handle=handle, where=seen.where or attempt.where)


@carry_out.register
def _move(action: facts.Move, scene: Scene) -> None:
    changes = {}
    if action.to is states.State.STOPPING:
        changes["stop_sent_at"] = timezone.now()
    with _unchanged(scene) as attempt:
        attempts.move_attempt(attempt=attempt, to=action.to, reason=action.reason, **changes)
    scene.attempt = attempt


@carry_out.register
def _note_reason(action: facts.NoteReason, scene: Scene) -> None:
    attempt = scene.the_attempt
    with _unchanged(scene) as held:
        held.reason = action.reason
        held.save(update_fields=["reason"])
    if action.reason:
        events.record(
            run=scene.run, attempt=attempt, kind="state", message=action.reason,
            key=_once(attempt, action.reason),
        )  # fmt: skip


def _once(attempt: Attempt, reason: str) -> str | None:
    """Name the reason for which an attempt waits, whatever the numbers in it: a line that moves is told once."""
    if attempt.state not in _BEFORE_THE_START:
        return None
    plain = re.sub(r"[0-9]+", "", reason)
    return f"waits:{attempt.pk}:{hashlib.sha256(plain.encode()).hexdigest()[:16]}"


@carry_out.register
def _send_command(action: facts.SendCommand, scene: Scene) -> None:
    with _unchanged(scene) as attempt:
        told = scene.facts.attempt
        now = loading.told_commands(attempt)
        if told is None or now != (told.hold_command, told.has_stop_command):
            raise Stale
        commands.send(attempt=attempt, kind=action.kind)


@carry_out.register
def _ask_stop(action: facts.AskStop, scene: Scene) -> None:
    attempt = scene.the_attempt
    scene.launcher.stop(attempt.name, attempt.handle, grace_seconds=action.grace_seconds)
    _tell_once(scene, "asked_to_stop", "Its workload was told to stop by a signal.")


@carry_out.register
def _kill(action: facts.Kill, scene: Scene) -> None:
    attempt = scene.the_attempt
    scene.launcher.kill(attempt.name, attempt.handle)
    _tell_once(scene, "killed", f"Its workload was ended by force. {action.reason}")


@carry_out.register
def _revoke_token(action: facts.RevokeToken, scene: Scene) -> None:
    with _unchanged(scene) as attempt:
        attempt_tokens.revoke_token(attempt=attempt)
    message = "Its token was revoked: what may still live of it can register nothing any more."
    _tell_once(scene, "token_revoked", message)


@carry_out.register
def _fence(action: facts.Fence, scene: Scene) -> None:
    name = scene.the_attempt.name
    try:
        scene.launcher.fence(name)
    except LauncherError as error:
        if error.can_retry:
            raise
        logger.warning("attempt.not_fenced", extra=_extra(scene) | {"error": error.message})
        _end_unfenced(scene)


def _end_unfenced(scene: Scene) -> None:
    """End what is gone under a name that its cluster will never let us close, as in a namespace that was deleted.

    Such a cluster takes no late start either, or the sweep ends what comes of it. It is looked at anew: the look that
    was decided on may be older than somebody's start.
    """
    attempt = scene.the_attempt
    seen = scene.launcher.observe(attempt.name, attempt.handle)
    if seen.presence is not Presence.ABSENT or seen.num_survivors:
        raise Stale
    for action in decide(scene.facts, replace(seen, is_fenced=True), timezone.now()):
        carry_out(action, scene)


@carry_out.register
def _keep_exit(action: facts.KeepExit, scene: Scene) -> None:
    with _unchanged(scene) as attempt:
        attempt.exit = dict(action.exit)
        attempt.save(update_fields=["exit"])


@carry_out.register
def _end(action: facts.End, scene: Scene) -> None:
    with _unchanged(scene) as attempt:
        attempts.end_attempt(
            attempt=attempt,
            outcome=action.outcome,
            reason=action.reason,
            exit=action.exit,
            at=action.at,
        )
    logger.info("attempt.ended", extra=_extra(scene) | {"outcome": str(action.outcome)})


@carry_out.register
def _contact_lost(action: facts.NoteContactLost, scene: Scene) -> None:
    contact.contact_lost(attempt=scene.the_attempt, since=action.since)


@carry_out.register
def _contact_regained(action: facts.NoteContactRegained, scene: Scene) -> None:
    contact.contact_regained(attempt=scene.the_attempt)


@carry_out.register
def _keep_paused(action: facts.KeepPaused, scene: Scene) -> None:
    with _unchanged(scene) as attempt:
        run = attempt.run
        run.desired, run.desired_at = states.Desired.PAUSED, timezone.now()
        run.save(update_fields=["desired", "desired_at"])
        message = "The trainer paused itself; it holds until somebody resumes it."
        events.record(run=run, attempt=attempt, kind="pause", message=message)


@carry_out.register
def _request_next(action: facts.RequestNextAttempt, scene: Scene) -> None:
    with transaction.atomic():
        held = Run.objects.select_for_update(no_key=True).get(pk=scene.run.pk)
        newest = held.attempts.first()
        expected = scene.attempt.pk if scene.attempt else None
        is_open = newest is not None and not newest.is_over
        if held.desired_at != scene.facts.desired_at or is_open:
            raise Stale
        if (newest.pk if newest else None) != expected:
            raise Stale
        if _is_refused(held):
            return
        start = resume_points.newest(held) or held.start_checkpoint
        attempts.create_attempt(run=held, checkpoint=start, reason=action.reason)
        # The force was meant for the attempt before.
        held.is_forced = False
        held.save(update_fields=["is_forced"])


def _is_refused(run: Run) -> bool:
    """Whether it may start no attempt any more: then the run is stopped, and the timeline says why."""
    try:
        if run.archived_at is not None:
            raise Conflict("It was put into the archive before it could go on.")
        approvals.require_approved(config=run.config)
    except SafeholdError as error:
        run.desired, run.desired_at = states.Desired.STOPPED, timezone.now()
        run.save(update_fields=["desired", "desired_at"])
        events.record(run=run, kind="launch_refused", message=error.message)
        return True
    return False


@carry_out.register
def _settle(action: facts.Settle, scene: Scene) -> None:
    with transaction.atomic():
        held = Run.objects.select_for_update(no_key=True).get(pk=scene.run.pk)
        if held.desired_at != scene.facts.desired_at:
            raise Stale
        runs.settle(run=held)


@contextmanager
def _unchanged(scene: Scene) -> Iterator[Attempt]:
    """Lock run and attempt, and yield the attempt, unless they are no longer what was decided on."""
    told = scene.the_attempt
    with transaction.atomic():
        run = Run.objects.select_for_update(no_key=True).get(pk=scene.run.pk)
        attempt = Attempt.objects.select_for_update(no_key=True).get(pk=told.pk)
        if run.desired_at != scene.facts.desired_at or attempt.state != told.state:
            raise Stale
        attempt.run = run
        try:
            yield attempt
        except attempts.StaleState as error:
            raise Stale from error


def _tell_once(scene: Scene, kind: str, message: str) -> None:
    attempt = scene.the_attempt
    events.record(
        run=scene.run, attempt=attempt, kind=kind, message=message, key=f"{kind}:{attempt.pk}"
    )


def _extra(scene: Scene) -> dict[str, object]:
    attempt = scene.the_attempt
    return {"run_id": scene.run.pk, "attempt": attempt.number, "launcher": attempt.launcher}
