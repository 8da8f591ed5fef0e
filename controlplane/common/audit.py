"""Writing and checking the audit trail."""

import hashlib
import json
import math
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from django.db import connection, models, transaction
from django.utils import timezone

from controlplane.common import seal
from controlplane.common.models import AuditEntry, User

# Any constant will do as the key of the lock that orders the writers of the chain.
_CHAIN_LOCK = 0x5AFE_401D
FIRST = "0" * 64
# Every column but the digest itself; the digest is over these, in this order.
_CONTENT = (
    "id", "prev_hash", "at", "actor_id", "actor_name", "project_id", "action", "object_type", "object_id", "data",
)  # fmt: skip


def digest(content: Mapping[str, Any]) -> str:
    """Return the SHA-256 over every column of an entry, the digest of the one before it among them."""
    values = [content[name] for name in _CONTENT]
    values[2] = content["at"].astimezone(UTC).isoformat()
    text = json.dumps(values, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
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
    last_id, last_hash = AuditEntry.objects.order_by("-pk").values_list("pk", "hash").first() or (
        0,
        FIRST,
    )
    entry = AuditEntry(
        pk=last_id + 1,
        at=at or timezone.now(),
        actor=actor,
        actor_name=actor.username if actor else "safehold",
        project_id=project_id if project_id is not None else getattr(object, "project_id", None),
        action=action,
        object_type=object._meta.model_name or "",
        object_id=str(object.pk),
        data=_kept(_plain(data or {}) | _token_of(actor)),
        prev_hash=last_hash,
    )
    entry.hash = digest(vars(entry))
    entry.save(force_insert=True)
    seal.write(entry)
    return entry


def broken_links() -> Iterator[tuple[int, str]]:
    """Yield (entry id, what is wrong) wherever history was changed: an edit, a gap, a swap, an addition, a cut end."""
    sealed = seal.read()
    last_id, before, at_seal = 0, FIRST, FIRST
    for row in (
        AuditEntry.objects.order_by("pk").values(*_CONTENT, "hash").iterator(chunk_size=2000)
    ):
        if row["id"] != last_id + 1 or row["prev_hash"] != before:
            yield row["id"], "an entry before it is missing or was changed"
        if digest(row) != row["hash"]:
            yield row["id"], "its content was changed"
        last_id, before = row["id"], row["hash"]
        if last_id == sealed.entry_id:
            at_seal = before
    yield from seal.faults(sealed, at_seal, last_id)


def _token_of(actor: User | None) -> dict[str, Any]:
    """Say by which token somebody acted, where it was one."""
    return {"token": actor.token.name} if actor is not None and actor.token is not None else {}


def _plain(data: Mapping[str, Any]) -> dict[str, Any]:
    values: dict[str, Any] = json.loads(json.dumps(data, default=str))
    return values


def _kept(value: Any) -> Any:
    """Return what a jsonb column gives back, so that the digest still fits: its numbers are decimals, its text has no NUL."""
    if isinstance(value, dict):
        return {_kept(key): _kept(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_kept(item) for item in value]
    if isinstance(value, str):
        return value.replace("\0", "\N{REPLACEMENT CHARACTER}").encode("utf-8", "replace").decode()
    if isinstance(value, float):
        return _number(value)
    return value


def _number(value: float) -> float | int | str:
    if not math.isfinite(value):
        return str(value)
    # From 1e16 on Python writes an exponent, which the column gives back as a whole number.
    return int(value) if value == 0 or abs(value) >= 1e16 else value
