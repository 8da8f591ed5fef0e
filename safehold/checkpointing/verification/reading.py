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
# One is hashed and scanned while two are filled: the disk stays busy while a reader copies.
BUFFERS = 3
# The disk is asked for so much in advance; the kernel's own read-ahead (128 KiB) leaves it idle.
_AHEAD_BYTES = 32 * 2**20


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
    pool: ThreadPoolExecutor,
    advance: Callable[[int], None],
) -> tuple[str, tuple[NotFinite, ...]]:
    """Return the digest of an open file and what in its tensors is not finite.

    While one buffer is hashed and scanned, the next ones are read.
    """
    digest, scan = hasher(algorithm), Scan(spans)
    for at, chunk in _chunks(descriptor, pool):
        hashed = pool.submit(digest.update, chunk)
        scan.take(at, chunk)
        hashed.result()
        advance(len(chunk))
    return digest.hexdigest(), scan.found()


def _chunks(descriptor: int, pool: ThreadPoolExecutor) -> Iterator[tuple[int, memoryview]]:
    os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_SEQUENTIAL)
    free = deque(memoryview(bytearray(CHUNK_BYTES)) for _ in range(BUFFERS))
    coming: deque[tuple[memoryview, Future[int]]] = deque()
    at = asked = 0
    length = CHUNK_BYTES
    while length == CHUNK_BYTES:
        while free:
            coming.append((free[0], pool.submit(_fill, descriptor, free.popleft(), asked)))
            asked += CHUNK_BYTES
        buffer, filling = coming.popleft()
        length = filling.result()
        if length:
            yield at, buffer[:length]
        at += length
        free.append(buffer)


def _fill(descriptor: int, buffer: memoryview, at: int) -> int:
    """Fill the buffer from the file; it stays shorter at the end of the file alone."""
    os.posix_fadvise(descriptor, at + len(buffer), _AHEAD_BYTES, os.POSIX_FADV_WILLNEED)
    length = 0
    while length < len(buffer):
        read = os.preadv(descriptor, [buffer[length:]], at + length)
        if not read:
            break
        length += read
    return length
