"""Sending what a process left behind: journals whose writer is dead, and its registrations."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from safehold.journal import Claim, Reader, claim, remove_journal
from safehold.outbox import Outbox
from safehold.sending import Sender
from safehold.transport import Denied, Transport, Unreachable, wait_seconds

logger = logging.getLogger(__name__)


@dataclass(slots=True)
class Replayed:
    """What a replay did.

    Attributes:
        num_records: Records that were sent.
        num_journals: Journals that are done and deleted.
        left: Whether something is still there.
    """

    num_records: int = 0
    num_journals: int = 0
    left: bool = False


def replay(
    folder: Path,
    transport: Transport,
    *,
    timeout_seconds: float = 600.0,
    wait: bool = True,
    registrations: bool = True,
) -> Replayed:
    """Send the journals and registrations below an attempt's folder that nobody owns any more.

    Args:
        folder: `SAFEHOLD_DIR` of the attempt.
        transport: To its server, with its token.
        timeout_seconds: Give up then; everything that is left stays for a later call.
        wait: Try again while the server is away, until the time is over.
        registrations: Also those of checkpoints; not where a postman is at work.
    """
    done = Replayed()
    deadline = time.monotonic() + timeout_seconds
    for path in journals(folder):
        owned = claim(path)
        if owned is not None:
            _replay_one(path, owned, transport, deadline, wait, done)
    outbox = Outbox(folder / "outbox")
    if registrations and outbox.waiting():
        _until(lambda: bool(outbox.deliver(transport)) or True, deadline, wait)
        done.left |= bool(outbox.waiting())
    return done


def journals(folder: Path) -> list[Path]:
    """Return the journals below an attempt's folder, owned or not."""
    try:
        return sorted(path for path in (folder / "journal").iterdir() if path.is_dir())
    except FileNotFoundError:
        return []


def _replay_one(
    path: Path, owned: Claim, transport: Transport, deadline: float, wait: bool, done: Replayed
) -> None:
    try:
        reader = Reader(path)
        reader.skip_deleted()
        first = reader.next_seq
        sender = Sender(reader, transport)
        if _until(lambda: _sent_all(sender), deadline, wait) and _tail_told(sender, deadline, wait):
            done.num_records += reader.next_seq - first
            done.num_journals += 1
            remove_journal(path, owned)
        else:
            done.left = True
    except (OSError, ValueError):
        logger.exception("replay.failed", extra={"folder": str(path)})
        done.left = True
    finally:
        owned.release()


def _tail_told(sender: Sender, deadline: float, wait: bool) -> bool:
    """Tell of bytes at the end that are no whole record; returns whether that was heard."""
    torn_bytes = sender.reader.left_bytes()
    if not torn_bytes:
        return True
    extra = {"folder": str(sender.reader.folder), "bytes": torn_bytes}
    logger.warning("replay.torn_tail", extra=extra)
    sender.note(
        f"The last {torn_bytes:,} bytes of the journal of rank {sender.reader.rank} are no whole record:"
        " what they held is lost."
    )
    return _until(lambda: sender.send() is not None, deadline, wait)


def _sent_all(sender: Sender) -> bool:
    """Send the next piece; returns whether that was the end of the journal."""
    sender.send(even_empty=False)
    return sender.idle


def _until(done: Callable[[], bool], deadline: float, wait: bool) -> bool:
    failures = 0
    while time.monotonic() < deadline:
        try:
            if done():
                return True
            failures = 0
        except Unreachable as error:
            failures += 1
            if not wait:
                return False
            pause = wait_seconds(failures, error.retry_after_seconds)
            time.sleep(max(0.0, min(pause, deadline - time.monotonic())))
        except Denied as error:
            logger.error("replay.denied", extra={"reason": str(error)})
            return False
    return False
