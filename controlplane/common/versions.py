"""Nothing is written over unseen: what people edit has a version, compared under the lock of the write."""

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from django.db.models import Model
from django.utils.translation import gettext as _

from controlplane.common.errors import SafeholdError
from controlplane.common.models import AuditEntry


class ChangedMeanwhile(SafeholdError):
    """Somebody else changed the object after this person had read it."""

    code = "changed-meanwhile"
    http_status = 412


def version_of(fields: Mapping[str, Any]) -> str:
    """Return the version of what people edit on an object: a part for each field, in their order."""
    return "-".join(_digest(value) for value in fields.values())


def require_unchanged(seen: str, fields: Mapping[str, Any], thing: Model, *acts: str) -> None:
    """Pass where the object still is as it was read.

    Args:
        seen: The version that was read; empty: whatever it is now.
        fields: What people edit on it, as `version_of` took them, read under a lock.
        thing: The object, for the sentence and the trail.
        acts: Those of the trail that change the fields, for who did it last: others change something else.

    Raises:
        ChangedMeanwhile: It is not; `changes` says which fields are different and what they are now.
    """
    now = version_of(fields)
    if not seen or seen == now:
        return
    parts = seen.split("-")
    is_ours = len(parts) == len(fields)
    changed = [
        name
        for name, part in zip(fields, parts if is_ours else [""] * len(fields), strict=True)
        if part != _digest(fields[name])
    ]
    last = AuditEntry.objects.filter(
        object_type=thing._meta.model_name or "", object_id=str(thing.pk), action__in=acts
    ).first()
    told = {"name": thing, "fields": ", ".join(changed), "user": last.actor_name if last else "?"}
    raise ChangedMeanwhile(
        _("%(name)s was changed after you read it: %(fields)s; last by %(user)s.") % told,
        hint=_("Read it again, and change that."),
        extra={"version": now, "changes": [{"field": one, "now": fields[one]} for one in changed]},
    )


def _digest(value: Any) -> str:
    text = json.dumps(value, sort_keys=True, default=str)
    return hashlib.blake2b(text.encode(), digest_size=5).hexdigest()
