"""Sending a journal, one exchange at a time: the half of exactly-once that the sender owns.

The server stores what lies beyond its high-water mark and says how far it is. So sending again is
always safe, and this side only has to begin where the server asks it to.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import replace

from safehold import wire
from safehold.journal import Piece, Reader, to_batch
from safehold.journal.records import lost_record
from safehold.transport import Rejected, Transport, Unreachable

logger = logging.getLogger(__name__)

INGEST = "/api/v1/ingest"
MOST_RECORDS = 20_000
# So often a single record must be refused before it is given up: a proxy may err once.
REFUSALS = 3


class Sender:
    """Sends what a reader gives.

    Attributes:
        acked: Number of the last record that the server holds, as far as known.
        idle: The last call found no record to send.
    """

    def __init__(self, reader: Reader, transport: Transport) -> None:
        self.reader = reader
        self.acked = 0
        self.idle = False
        self._transport = transport
        self._most = MOST_RECORDS
        self._gaps = 0
        self._refusals = 0
        self._pending: Piece | None = None

    def send(
        self,
        *,
        upto: int | None = None,
        heartbeat: wire.Heartbeat | None = None,
        applied: Sequence[wire.Applied] = (),
        even_empty: bool = True,
    ) -> wire.Ack | None:
        """Send the next records and take in the answer.

        Args:
            upto: Last record that may be sent (what is safe on the disk); `None` = any.
            heartbeat: Goes along.
            applied: Commands done; reported once the answer is here.
            even_empty: Send also where there is no record.

        Returns:
            The answer, or `None` where nothing was sent or the server asked to begin elsewhere
            (call again).

        Raises:
            Unreachable: trying later can help; nothing is lost.
            Denied: the token has ended.
        """
        piece = self._pending or self._next(upto)
        self.idle = not piece.records
        if self.idle and not even_empty:
            return None
        self._pending = None if self.idle else piece
        batch = replace(
            to_batch(self.reader.rank, self.reader.journal, piece.first_seq, piece.records),
            heartbeat=heartbeat,
            applied=tuple(applied),
        )
        try:
            ack = self._exchange(batch)
        except Rejected as rejected:
            self._adjust(piece, rejected)
            return None
        self._take(ack, piece)
        return ack

    def note(self, text: str) -> None:
        """Send a note as the next record: of a journal that has no more, and nobody writes."""
        self._pending = Piece(self.reader.next_seq, [lost_record(text)])

    def _next(self, upto: int | None) -> Piece:
        most = self._most
        if upto is not None:
            most = min(most, upto - self.reader.next_seq + 1)
        if most <= 0:
            return Piece(self.reader.next_seq, [])
        return self.reader.read(most=most)

    def _exchange(self, batch: wire.Batch) -> wire.Ack:
        body, encoding = wire.compress(wire.encode(batch))
        answer = self._transport.post(INGEST, body, encoding=encoding)
        try:
            return wire.read_ack(answer)
        except wire.WireError as error:
            raise Unreachable(str(error)) from error

    def _take(self, ack: wire.Ack, piece: Piece) -> None:
        self._pending = None
        self._gaps = 0
        self._refusals = 0
        self._most = min(MOST_RECORDS, self._most * 2)
        # An answer that claims more than was ever sent must not delete records here.
        self.acked = min(ack.acked, piece.last_seq)
        if self.acked < piece.last_seq:
            self.reader.seek(self.acked)
        for refusal in ack.refused[:5]:
            logger.warning(
                "client.point_refused", extra={"metric": refusal.name, "reason": refusal.reason}
            )

    def _adjust(self, piece: Piece, rejected: Rejected) -> None:
        """Go where the server wants to have us, or send less at once."""
        if rejected.status == 409 and type(acked := rejected.problem.get("acked")) is int:
            self._rewind(acked, piece)
        elif rejected.status == 426 or not piece.records:
            raise Unreachable(f"the server refuses our messages ({rejected})", 30.0)
        elif len(piece.records) > 1:
            self._most = max(1, len(piece.records) // 2)
            self._pending = None
            self.reader.seek(piece.first_seq - 1)
        else:
            self._leave_out(piece, rejected)

    def _leave_out(self, piece: Piece, rejected: Rejected) -> None:
        """Put a note in the place of a record that is refused again and again, so others can pass."""
        self._refusals += 1
        if self._refusals < REFUSALS:
            raise Unreachable(f"the server refused record {piece.first_seq} ({rejected})")
        if not self._is_empty_taken(piece):  # as from a proxy that is set up wrong
            raise Unreachable(f"the server refuses whatever we send ({rejected})", 10.0)
        text = f"record {piece.first_seq} was refused by the server ({rejected})"
        logger.error("client.record_refused", extra={"reason": text})
        self._refusals = 0
        self._pending = Piece(piece.first_seq, [lost_record(text)])

    def _is_empty_taken(self, piece: Piece) -> bool:
        """Ask whether a message without records passes, so that the record is at fault."""
        try:
            self._exchange(to_batch(self.reader.rank, self.reader.journal, piece.first_seq, []))
        except Rejected:
            return False
        return True

    def _rewind(self, acked: int, piece: Piece) -> None:
        if not 0 <= acked < piece.first_seq:
            raise Unreachable(
                f"the server asks for record {acked + 1} instead of {piece.first_seq}"
            )
        self._pending = None
        self._gaps += 1
        self.acked = acked
        self.reader.seek(acked)
        if self._gaps > 2:
            raise Unreachable(f"the server keeps asking for record {acked + 1}")
