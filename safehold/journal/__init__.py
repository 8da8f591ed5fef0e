"""The append-only journal of records on the disk of the training machine."""

from __future__ import annotations

from safehold.journal.claims import Claim, claim
from safehold.journal.reader import Piece, Reader
from safehold.journal.records import pack_record, to_batch
from safehold.journal.writer import LIMIT_BYTES, Journal, message, remove_journal

__all__ = [
    "LIMIT_BYTES",
    "Claim",
    "Journal",
    "Piece",
    "Reader",
    "claim",
    "message",
    "pack_record",
    "remove_journal",
    "to_batch",
]
