"""The seal of the audit trail: its newest entry, signed with a key that the database does not hold.

The chain alone shows an edit. Whoever can write the table could also compute every later digest anew, or cut the end
off; the seal shows both. Keys are those of `controlplane.common.encryption`: the first signs, all are believed.
"""

from collections.abc import Iterator

from django.utils.crypto import constant_time_compare, salted_hmac

from controlplane.common import encryption
from controlplane.common.models import AuditEntry, AuditSeal

_ONLY = 1
_UNSEALED = AuditSeal(entry_id=0, hash="0" * 64, signature="")


def write(entry: AuditEntry) -> None:
    """Seal the chain up to this entry, in the transaction that adds it."""
    signature = _signature(entry.pk, entry.hash, encryption.key_texts()[0])
    made = AuditSeal(pk=_ONLY, entry_id=entry.pk, hash=entry.hash, signature=signature)
    columns = ["entry_id", "hash", "signature"]
    AuditSeal.objects.bulk_create(
        [made], update_conflicts=True, unique_fields=["id"], update_fields=columns
    )


def read() -> AuditSeal:
    """Return the seal; that of an empty trail where there is none."""
    return AuditSeal.objects.filter(pk=_ONLY).first() or _UNSEALED


def faults(sealed: AuditSeal, at_seal: str, last_id: int) -> Iterator[tuple[int, str]]:
    """Yield what the seal says against a chain that was just read.

    Args:
        sealed: As it was before the reading began; entries may have been added since.
        at_seal: Digest of the entry that it names, as read.
        last_id: Of the last entry read.
    """
    if sealed.entry_id and not _is_genuine(sealed):
        yield sealed.entry_id, "the seal was not made by this service"
    elif at_seal != sealed.hash:
        yield sealed.entry_id, "the chain is not the one that was sealed here"
    if last_id > read().entry_id:
        yield last_id, "entries up to it were never sealed"


def _is_genuine(sealed: AuditSeal) -> bool:
    return any(
        constant_time_compare(_signature(sealed.entry_id, sealed.hash, key), sealed.signature)
        for key in encryption.key_texts()
    )


def _signature(entry_id: int, digest: str, key: str) -> str:
    return salted_hmac(
        "safehold.audit.seal", f"{entry_id}:{digest}", secret=key, algorithm="sha256"
    ).hexdigest()
