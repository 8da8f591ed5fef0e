"""The `.metadata` of PyTorch's distributed checkpoints, which is a pickle: read by a short list.

Source:
    torch/distributed/checkpoint/metadata.py and filesystem.py of PyTorch 2.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from safehold.checkpointing.formats.base import FormatError
from safehold.checkpointing.formats.pickles import PLAIN, Allowed, Record, load, record
from safehold.checkpointing.formats.torch_zip import DTYPES

METADATA = ".metadata"
_METADATA_NAMES = (
    "Metadata", "TensorStorageMetadata", "BytesStorageMetadata", "TensorProperties",
    "ChunkStorageMetadata", "MetadataIndex", "StorageMeta", "_MEM_FORMAT_ENCODING",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Shard:
    """A stretch of a shard file that the metadata names."""

    path: str
    offset: int
    length: int


@dataclass(frozen=True, slots=True)
class Plan:
    """What the metadata promises: names with their shapes, and the stretches that hold them."""

    shapes: dict[str, tuple[int, ...]]
    shards: tuple[Shard, ...]


def read_metadata(content: bytes) -> Plan:
    """Return what a `.metadata` file promises.

    Raises:
        UnsafeError: its pickle names something that could run code.
        FormatError: it is no such metadata.
    """
    value = load(content, _allowed())
    if not isinstance(value, Record) or "storage_data" not in value.state:
        raise FormatError("its metadata is not that of a distributed checkpoint")
    entries = value.state.get("state_dict_metadata") or {}
    if not isinstance(entries, dict):
        raise FormatError("its metadata lists no tensors")
    return Plan(
        shapes={str(name): _shape(entry) for name, entry in dict.items(entries)},
        shards=tuple(_shard(info) for info in _values(value.state["storage_data"])),
    )


def _values(data: Any) -> Iterable[Any]:
    if not isinstance(data, dict):
        raise FormatError("its metadata lists no storage")
    return dict.values(data)


def _shape(entry: Any) -> tuple[int, ...]:
    state = entry.state if isinstance(entry, Record) else {}
    size = state.get("size", ())
    if not isinstance(size, tuple):
        raise FormatError(f"its metadata gives a {type(size).__name__} for a shape")
    return size


def _shard(info: Any) -> Shard:
    state = info.state if isinstance(info, Record) else {}
    path, offset, length = state.get("relative_path"), state.get("offset"), state.get("length")
    if not isinstance(path, str) or type(offset) is not int or type(length) is not int:
        raise FormatError(f"its metadata names a place in an unknown way: a {type(info).__name__}")
    if offset < 0 or length < 0:
        raise FormatError(f"its metadata gives {path!r} the place {offset}+{length}")
    return Shard(path, offset, length)


def _allowed() -> Allowed:
    base = "torch.distributed.checkpoint"
    return {
        **PLAIN,
        **{f"{base}.metadata.{name}": record(name) for name in _METADATA_NAMES},
        f"{base}.filesystem._StorageInfo": record("StorageInfo"),
        f"{base}.filesystem._StoragePrefix": record("StoragePrefix"),
        "torch.Size": lambda sizes=(): tuple(sizes),
        "torch.serialization._get_layout": record("layout"),
        "pathlib.PosixPath": record("path"),
        "pathlib.PurePosixPath": record("path"),
        "pathlib._local.PosixPath": record("path"),
        **{f"torch.{name}": record(name) for name in DTYPES},
    }
