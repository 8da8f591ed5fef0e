"""Read a file once, from disk to digest and finite scan, without mapping it.

Mapped memory would be a little simpler, but a file that is cut while we look at it (shared storage)
ends a mapped reader with SIGBUS; `pread` just returns less.
"""

from __future__ import annotations

import hashlib
import os
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Protocol

from blake3 import blake3

from safehold.checkpointing.formats.base import Span
from safehold.checkpointing.verification.facts import NotFinite
from safehold.checkpointing.verification.finite import Scan

# Large enough that handing over costs nothing, small enough to stay in a processor's cache.
CHUNK_BYTES = 4 * 2**20
# One is hashed and scanned while two are filled: the disk stays busy while a reader copies. Two more lie ready,
# so that neither side waits for the other's slowest turn.
READERS = 2
BUFFERS = 5


class Hasher(Protocol):
    """What both digest libraries offer."""

    def update(self, data: memoryview, /) -> object:
        """Take the next bytes."""

    def hexdigest(self) -> str:
        """Return the digest of all bytes taken."""


def hasher(algorithm: str) -> Hasher:
    """Return an empty digest of the named kind."""
    return hashlib.sha256() if algorithm == "sha256" else blake3()


def digest_and_scan(
    descriptor: int,
    spans: tuple[Span, ...],
    *,
    algorithm: str,
    advance: Callable[[int], None],
) -> tuple[str, tuple[NotFinite, ...]]:
    """Return the digest of an open file and what in its tensors is not finite.

    While one buffer is hashed and scanned, the next ones are read.
    """
    digest, scan = hasher(algorithm), Scan(spans)
    with ThreadPoolExecutor(READERS) as readers, ThreadPoolExecutor(1) as hashing:
        for at, chunk in _chunks(descriptor, readers):
            hashed = hashing.submit(digest.update, chunk)
            scan.take(at, chunk)
            hashed.result()
            advance(len(chunk))
    return digest.hexdigest(), scan.found()


def _chunks(descriptor: int, readers: ThreadPoolExecutor) -> Iterator[tuple[int, memoryview]]:
    # The kernel then reads twice as far ahead, in pages as large as it has. Asked for a stretch (WILLNEED) it takes
    # small ones: three times the processor time for a byte, and requests that leave a disk half idle.
    os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_SEQUENTIAL)
    needed = min(BUFFERS, os.fstat(descriptor).st_size // CHUNK_BYTES + 1)
    free = deque(memoryview(bytearray(CHUNK_BYTES)) for _ in range(needed))
    coming: deque[tuple[memoryview, Future[int]]] = deque()
    at = asked = 0
    length = CHUNK_BYTES
    while length == CHUNK_BYTES:
        while free:
            coming.append((free[0], readers.submit(_fill, descriptor, free.popleft(), asked)))
            asked += CHUNK_BYTES
        buffer, filling = coming.popleft()
        length = filling.result()
        if length:
            yield at, buffer[:length]
        at += length
        free.append(buffer)


def _fill(descriptor: int, buffer: memoryview, at: int) -> int:
    """Fill the buffer from the file; it stays shorter at the end of the file alone."""
    length = 0
    while length < len(buffer):
        read = os.preadv(descriptor, [buffer[length:]], at + length)
        if not read:
            break
        length += read
    return length
