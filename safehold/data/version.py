"""The data version: a digest over the ordered list of files."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from blake3 import blake3

_BLOCK_BYTES = 4 * 2**20


@dataclass(frozen=True, slots=True)
class DataFile:
    """A file of the data: its path as the data know it, its size, its digest `blake3:…`."""

    path: str
    size: int
    digest: str


def data_file(path: Path, root: Path) -> DataFile:
    """Read a file and return its entry; the digest is that of the bytes on disk."""
    digest = blake3()
    with path.open("rb") as file:
        while block := file.read(_BLOCK_BYTES):
            digest.update(block)
    return DataFile(
        path.relative_to(root).as_posix(), path.stat().st_size, f"blake3:{digest.hexdigest()}"
    )


def data_version(files: Iterable[DataFile]) -> str:
    """Return the version of the files in this order: another order is another version."""
    digest = blake3()
    for item in files:
        digest.update(f"{item.path}\0{item.size}\0{item.digest}\n".encode())
    return f"blake3:{digest.hexdigest()}"
