"""Writing and checking the audit trail."""

import hashlib
import json
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from django.db import connection, models, transaction
from django.utils import timezone

from controlplane.common.models import AuditEntry, User

# Any constant will do as the key of the lock that orders the writers of the chain.
_CHAIN_LOCK = 0x5AFE_401D
_FIRST = "0" * 64


def digest(entry: AuditEntry) -> str:
    """Return the SHA-256 over every field of the entry and the digest before it."""
    content = [
        entry.prev_hash, entry.at.astimezone(timezone.get_fixed_timezone(0)).isoformat(), entry.actor_id,
        entry.actor_name, entry.project_id, entry.action, entry.object_type, entry.object_id, entry.data,
    ]  # fmt: skip
    text = json.dumps(content, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


@transaction.atomic
def record(
    *,
    actor: User | None,
    action: str,
    object: models.Model,
    project_id: int | None = None,
    data: Mapping[str, Any] | None = None,
    at: datetime | None = None,
) -> AuditEntry:
    """Append one act in the caller's transaction: it is kept exactly when the act is.

    The writers of the chain queue behind each other until they commit, so keep the transaction short.
    """
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [_CHAIN_LOCK])
    newest = AuditEntry.objects.order_by("-pk").values_list("hash", flat=True).first()
    entry = AuditEntry(
        at=at or timezone.now(),
        actor=actor,
        actor_name=actor.username if actor else "safehold",
        project_id=project_id if project_id is not None else getattr(object, "project_id", None),
        action=action,
        object_type=object._meta.model_name or "",
        object_id=str(object.pk),
        data=json.loads(json.dumps(data or {}, default=str)),
        prev_hash=newest or _FIRST,
    )
    entry.hash = digest(entry)
    entry.save(force_insert=True)
    return entry


def broken_links() -> Iterator[tuple[int, str]]:
    """Yield (entry id, what is wrong) for every entry whose content or predecessor was changed."""
    before = _FIRST
    for entry in AuditEntry.objects.order_by("pk").iterator(chunk_size=1000):
        if entry.prev_hash != before:
            yield entry.pk, "an entry before it is missing or was changed"
        if digest(entry) != entry.hash:
            yield entry.pk, "its content was changed"
        before = entry.hash
