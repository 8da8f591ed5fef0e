"""Tokens on disk, ready to train on: documents end to end, cut into sequences of one length.

A shard is three files: `<name>.tokens` (uint16, or uint32 where the vocabulary needs it, little-endian),
`<name>.documents` (int64: where each document ends) and `<name>.json` (what they are).
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from safehold.data.permutation import Indices


class PackedError(ValueError):
    """A packed shard that is not what its description says."""


@dataclass(frozen=True, slots=True)
class Shard:
    """What a packed shard is."""

    name: str
    domain: str
    num_tokens: int
    num_documents: int
    dtype: str
    end_of_text: int


def write_shard(
    folder: Path,
    name: str,
    documents: Iterable[list[int]],
    *,
    domain: str,
    end_of_text: int,
    vocabulary: int,
) -> Shard:
    """Write documents as one shard, the end of text after each.

    Raises:
        PackedError: a token lies outside the vocabulary.
    """
    dtype = np.dtype("<u2" if vocabulary <= 2**16 else "<u4")
    ends, num_tokens = [], 0
    with (folder / f"{name}.tokens").open("wb") as file:
        for tokens in documents:
            ids = np.array([*tokens, end_of_text], dtype=np.int64)
            if ids.max() >= vocabulary or ids.min() < 0:
                raise PackedError(f"Token {ids.max()} lies outside a vocabulary of {vocabulary}.")
            file.write(ids.astype(dtype).tobytes())
            num_tokens += len(ids)
            ends.append(num_tokens)
    np.array(ends, dtype="<i8").tofile(folder / f"{name}.documents")
    shard = Shard(name, domain, num_tokens, len(ends), dtype.str, end_of_text)
    (folder / f"{name}.json").write_text(json.dumps(asdict(shard), indent=1) + "\n")
    return shard


class Packed:
    """All shards of a folder as one numbered list of sequences; memory-mapped, read when asked.

    A sequence has `length + 1` tokens: inputs are all but the last, targets all but the first. The last,
    incomplete one of a shard is left out.

    Raises:
        PackedError: there is none, or a file has not the size that its description says.
    """

    def __init__(self, folder: Path, length: int) -> None:
        self.folder, self.length = folder, length
        self.shards = [_described(path) for path in sorted(folder.glob("*.json"))]
        self._tokens = [_mapped(folder, shard) for shard in self.shards]
        counts = [max(0, (shard.num_tokens - 1) // length) for shard in self.shards]
        self._starts = np.cumsum([0, *counts])
        if not self.shards:
            raise PackedError(f"{folder} holds no packed shards; prepare the data first.")

    def __len__(self) -> int:
        return int(self._starts[-1])

    def domain_of(self, number: int) -> str:
        """Return the domain that a sequence comes from."""
        return self.shards[self._shard_of(number)].domain

    def sequences(self, numbers: Indices) -> NDArray[np.int64]:
        """Return sequences by number, shape `(n, length + 1)`."""
        return np.stack([self._sequence(int(number)) for number in numbers])

    def _sequence(self, number: int) -> NDArray[np.int64]:
        shard = self._shard_of(number)
        start = (number - int(self._starts[shard])) * self.length
        return self._tokens[shard][start : start + self.length + 1].astype(np.int64)

    def _shard_of(self, number: int) -> int:
        if not 0 <= number < len(self):
            raise IndexError(f"Sequence {number} of {len(self)}.")
        return int(np.searchsorted(self._starts, number, side="right")) - 1


def _described(path: Path) -> Shard:
    try:
        return Shard(**json.loads(path.read_bytes()))
    except (OSError, ValueError, TypeError) as error:
        raise PackedError(f"{path} does not describe a packed shard: {error}.") from error


def _mapped(folder: Path, shard: Shard) -> NDArray[Any]:
    path = folder / f"{shard.name}.tokens"
    dtype = np.dtype(shard.dtype)
    size = path.stat().st_size
    if size != shard.num_tokens * dtype.itemsize:
        raise PackedError(
            f"{path} has {size:,} bytes, its {shard.num_tokens:,} tokens need "
            f"{shard.num_tokens * dtype.itemsize:,}. Prepare the data again."
        )
    if not size:  # nothing to map: a file without documents
        return np.empty(0, dtype)
    return np.memmap(path, dtype=dtype, mode="r")
