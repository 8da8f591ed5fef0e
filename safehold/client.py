"""The thread that reports: sends the journal, keeps the heartbeat, brings commands.

Nothing here raises into training or makes it wait. A record after a quiet moment wakes the thread and
goes at once; those that follow wait for the next message, so a log call costs little but its write.
"""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Callable, Sequence

from safehold import wire
from safehold.commands import Inbox
from safehold.journal import Journal, Reader
from safehold.pacing import Pace
from safehold.sending import MOST_RECORDS, Sender
from safehold.transport import Denied, Transport, Unreachable, wait_seconds

logger = logging.getLogger(__name__)

HEARTBEAT_SECONDS = 2.0
# Only rank 0 brings commands, so a thousand ranks need not knock every two seconds.
OTHER_RANKS_HEARTBEAT_SECONDS = 10.0
SHORTEST_SECONDS = 0.005
# A token that has ended stays so; what stands in front of the server may deny for a while, and a run lasts weeks.
DENIED_SECONDS = 60.0


class Client:
    """Sends one journal until closed.

    Attributes:
        inbox: Where commands arrive.
        denied: Why the server no longer takes anything from this attempt; empty while it does.
        failures: Exchanges that failed in a row.
    """

    def __init__(
        self,
        journal: Journal,
        transport: Transport,
        heartbeat: Callable[[], wire.Heartbeat],
        *,
        flush_seconds: float = 0.1,
        heartbeat_seconds: float | None = None,
    ) -> None:
        self.inbox = Inbox()
        self.denied = ""
        self.failures = 0
        self._journal = journal
        self._transport = transport
        self._heartbeat = heartbeat
        self._sender = Sender(Reader(journal.folder), transport)
        # At 0 the thread would look without a pause, at the cost of a core of the training.
        self._flush_seconds = max(flush_seconds, SHORTEST_SECONDS)
        self._pace = Pace(self._flush_seconds)
        every = HEARTBEAT_SECONDS if journal.rank == 0 else OTHER_RANKS_HEARTBEAT_SECONDS
        self._heartbeat_seconds = heartbeat_seconds or every
        self._last_sent_at = 0.0
        self._retry_at = 0.0
        self._read_again_at = 0.0  # after the disk refused to give the records
        self._ask_again_at = 0.0  # after a denial
        self._last_phase = ""
        self._closing = threading.Event()
        self._deadline = 0.0
        self._pid = os.getpid()
        self._thread = threading.Thread(target=self._run, name="safehold-client", daemon=True)

    @property
    def acked(self) -> int:
        """Number of the last record that the server holds."""
        return self._sender.acked

    def start(self) -> None:
        """Begin to send."""
        self._thread.start()

    def close(self, timeout_seconds: float = 10.0) -> bool:
        """Send what is left and end the thread.

        Returns:
            Whether the server holds every record. What it does not hold stays in the journal.
        """
        if os.getpid() != self._pid:
            return False
        self._deadline = time.monotonic() + timeout_seconds
        self._closing.set()
        self._journal.has_news.set()
        if self._thread.is_alive():
            self._thread.join(timeout_seconds + 1.0)
        if not self._thread.is_alive():
            self._transport.close()
        return self._all_sent()

    def _run(self) -> None:
        while not self._closing.is_set():
            self._rest()
            self._guarded_turn()
        while time.monotonic() < self._deadline and not self._is_denied():
            self._retry_at = 0.0
            self._guarded_turn(last=True)
            if self._all_sent() and not self.failures and not self.inbox.reports():
                return
            time.sleep(0.5 if self._is_held() else 0.0)

    def _rest(self) -> None:
        """Wait until there is something to send, but look a few times a second: not all news is a record."""
        if self._is_held() or self.denied:
            self._closing.wait(self._flush_seconds)
        elif self._near():
            self._closing.wait(self._pace.pause(time.monotonic()))
            if self._all_sent():
                self._journal.has_news.wait(self._flush_seconds)
        self._journal.has_news.clear()

    def _guarded_turn(self, *, last: bool = False) -> None:
        try:
            self._turn(last=last)
        except Unreachable as error:
            self._failed(error)
        except Denied as error:
            if not self._ask_again_at:
                logger.error("client.denied", extra={"reason": str(error)})
            self.denied, self._ask_again_at = str(error), time.monotonic() + DENIED_SECONDS
        except Exception:  # the edge of the thread: training goes on whatever happens
            self._failed(Unreachable("an error of our own"))
            logger.exception("client.turn_failed")

    def _turn(self, *, last: bool) -> None:
        now = time.monotonic()
        if self._is_denied() or now < self._retry_at:
            return
        reports, beat = self.inbox.reports(), self._heartbeat()
        is_readable = now >= self._read_again_at
        news = (is_readable and not self._all_sent()) or reports
        if not (news or last or self._beat_due(now, beat.phase)):
            return
        self._pace.take(now)
        upto = self._journal.sync() if is_readable else 0
        ack = self._exchange(upto, beat, reports)
        self._last_sent_at, self._last_phase = now, beat.phase
        if ack is None:
            return
        if self.failures:
            logger.info("client.reconnected", extra={"failures": self.failures})
        self.failures, self._ask_again_at = 0, 0.0
        self.inbox.arrived(reports)
        self.inbox.offer(ack.commands)
        self._journal.forget(self._sender.acked)

    def _exchange(
        self, upto: int, beat: wire.Heartbeat, reports: Sequence[wire.Applied]
    ) -> wire.Ack | None:
        """Send; where the disk refuses to give the records, the sign of life alone."""
        try:
            return self._sender.send(upto=upto, heartbeat=beat, applied=reports)
        except OSError as error:  # not of the network: the transport makes those its own
            if not self._read_again_at:
                logger.error("client.journal_unreadable", extra={"reason": str(error)})
            self._read_again_at = time.monotonic() + self._heartbeat_seconds
            return self._sender.send(upto=0, heartbeat=beat, applied=reports)

    def _is_held(self) -> bool:
        """Say whether the server, or the disk, has failed and is tried again later."""
        return bool(self.failures) or time.monotonic() < self._read_again_at

    def _is_denied(self) -> bool:
        if self.denied and (self._transport.follow() or time.monotonic() >= self._ask_again_at):
            self.denied = ""  # it was said where somebody else listens by now, or a while ago
        return bool(self.denied)

    def _beat_due(self, now: float, phase: str) -> bool:
        return phase != self._last_phase or now - self._last_sent_at >= self._heartbeat_seconds

    def _failed(self, error: Unreachable) -> None:
        self.failures += 1
        self._retry_at = time.monotonic() + wait_seconds(self.failures, error.retry_after_seconds)
        if self.failures in (1, 10, 100, 1000):
            logger.warning(
                "client.unreachable", extra={"reason": str(error), "failures": self.failures}
            )

    def _near(self) -> bool:
        """Say whether what is left fits into one batch; if not, there is no reason to wait."""
        return self._journal.last_seq - self._sender.acked < MOST_RECORDS

    def _all_sent(self) -> bool:
        return self._sender.acked >= self._journal.last_seq
