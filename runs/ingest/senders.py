"""Who sends: the attempt behind a token, remembered for two seconds.

So a revoked token or an ended attempt is honoured within two seconds, and a stream of batches costs no
question to the database about rights.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.utils import timezone

from controlplane.common import tokens
from controlplane.common.errors import SafeholdError
from runs import states
from runs.models import Attempt

REMEMBER_SECONDS = 2.0
MAX_REMEMBERED = 10_000
Key = tuple[int, str]  # rank, name


class UnknownToken(SafeholdError):
    """No attempt has this token."""

    code = "token-unknown"
    http_status = 401


class EndedToken(SafeholdError):
    """The token was revoked, or its attempt ended too long ago."""

    code = "token-ended"
    http_status = 403


@dataclass(slots=True, eq=False)
class Sender:
    """The facts of an attempt that storing its batches needs.

    Attributes:
        known: Names that have a row in the table of series, by rank.
        sparkline: As stored, or as this process wrote it since.
    """

    attempt_id: int
    run_id: int
    project_id: int
    number: int
    state: str
    ended_at: datetime | None
    revoked_at: datetime | None
    skew_seconds: float | None
    sparkline: dict[str, Any]
    known: set[Key] = field(default_factory=set)
    read_at: float = 0.0

    @property
    def is_over(self) -> bool:
        """Whether the attempt has ended: what comes now is late, stored, and changes no state."""
        return self.state == states.State.ENDED


_remembered: dict[str, Sender] = {}


def sender_of(token: str) -> Sender:
    """Return the attempt that this token belongs to.

    Raises:
        UnknownToken: Nobody has it.
        EndedToken: It may no longer be used.
    """
    key = tokens.hash_token(token)
    sender = _remembered.get(key)
    if sender is None or time.monotonic() - sender.read_at > REMEMBER_SECONDS:
        sender = _read(key, sender)
    if sender is None:
        raise UnknownToken("No attempt has this token.", hint="Start the attempt anew.")
    _check(sender)
    return sender


def describe(attempt: Attempt) -> Sender:
    """Return the facts of an attempt that is at hand."""
    return _sender(Attempt.objects.select_related("run").get(pk=attempt.pk))


def forget_all() -> None:
    """Forget what was remembered."""
    _remembered.clear()


def _read(key: str, before: Sender | None) -> Sender | None:
    attempt = Attempt.objects.select_related("run").filter(token_hash=key).first()
    if attempt is None:
        _remembered.pop(key, None)
        return None
    if len(_remembered) >= MAX_REMEMBERED:
        _remembered.clear()
    sender = _sender(attempt)
    if before is not None:
        sender.known = before.known
    _remembered[key] = sender
    return sender


def _sender(attempt: Attempt) -> Sender:
    return Sender(
        attempt_id=attempt.pk,
        run_id=attempt.run_id,
        project_id=attempt.run.project_id,
        number=attempt.number,
        state=attempt.state,
        ended_at=attempt.ended_at,
        revoked_at=attempt.token_revoked_at,
        skew_seconds=attempt.clock_skew_seconds,
        sparkline=attempt.run.sparkline,
        read_at=time.monotonic(),
    )


def _check(sender: Sender) -> None:
    if sender.revoked_at is not None:
        raise EndedToken("The token of this attempt was revoked.")
    allowed = timedelta(seconds=settings.SAFEHOLD_LATE_METRICS_SECONDS)
    if sender.is_over and sender.ended_at and timezone.now() - sender.ended_at > allowed:
        raise EndedToken(
            f"The attempt ended at {sender.ended_at.isoformat()}; metrics are taken for "
            f"{allowed.total_seconds() / 3600:g} hours after that.",
            hint="Import the journal instead; nothing of it is lost.",
        )
