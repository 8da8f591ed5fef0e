"""Verifying the audit trail, and keeping what was found."""

import time
from datetime import timedelta

from django.utils import timezone
from django.utils.translation import gettext as _

from controlplane.common import access, audit
from controlplane.common.errors import NotFound
from controlplane.common.models import AuditCheck, AuditEntry, User

_KEPT_FAULTS = 100
_KEPT_CHECKS = 100
# Reading the whole chain costs seconds; who asks again at once gets the answer that there is.
_FRESH = timedelta(seconds=5)


def verify(*, user: User) -> AuditCheck:
    """Verify the chain in the name of a person, at most every few seconds."""
    access.require_service(user, "audit.verify")
    newest = AuditCheck.objects.first()
    if newest is not None and timezone.now() - newest.at < _FRESH:
        return newest
    return check()


def check() -> AuditCheck:
    """Verify the chain and keep the result."""
    begun = time.monotonic()
    faults = list(audit.broken_links())
    head = AuditEntry.objects.order_by("-pk").values_list("pk", "hash").first() or (0, audit.FIRST)
    made = AuditCheck.objects.create(
        at=timezone.now(), num_entries=head[0], head=head[1], faults=[list(one) for one in faults[:_KEPT_FAULTS]],
        num_faults=len(faults), seconds=time.monotonic() - begun,
    )  # fmt: skip
    old = AuditCheck.objects.values_list("pk", flat=True)[_KEPT_CHECKS:]
    AuditCheck.objects.filter(pk__in=list(old)).delete()
    return made


def newest() -> AuditCheck | None:
    """Return the last verification; None before the first one."""
    return AuditCheck.objects.first()


def position_of(head: str) -> int:
    """Return which entry a digest that was written down earlier belongs to.

    Raises:
        NotFound: None has it: the trail is not the one that it was written down from.
    """
    found = AuditEntry.objects.filter(hash=head).values_list("pk", flat=True).first()
    if found is None:
        raise NotFound(
            _("No entry has the digest %(digest)s: this is not the trail that it was noted from.")
            % {"digest": head[:64]}
        )
    return found
