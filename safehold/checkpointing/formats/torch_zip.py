"""PyTorch's zip files (`.pt`), read without torch and without running code from them.

The archive's members are stored uncompressed, so a tensor is a stretch of the file itself, and is
hashed and scanned in place.

Source:
    torch/serialization.py and caffe2/serialize/inline_container.h of PyTorch 2.
"""

from __future__ import annotations

import pickle
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from safehold.checkpointing.formats.base import (
    ITEM_BYTES,
    Bytes,
    Contents,
    FormatError,
    Span,
    num_bytes,
)
from safehold.checkpointing.formats.pickles import PLAIN, Allowed, load, record
from safehold.checkpointing.formats.zip_members import (
    bytes_of,
    open_archive,
    place_of,
    refuse_packed,
)

_STORAGES = {
    "FloatStorage": "F32", "DoubleStorage": "F64", "HalfStorage": "F16", "BFloat16Storage": "BF16",
    "LongStorage": "I64", "IntStorage": "I32", "ShortStorage": "I16", "CharStorage": "I8",
    "ByteStorage": "U8", "BoolStorage": "BOOL", "UntypedStorage": "U8",
    "ComplexFloatStorage": "C64", "ComplexDoubleStorage": "C128",
    "Float8_e4m3fnStorage": "F8_E4M3", "Float8_e5m2Storage": "F8_E5M2",
}  # fmt: skip
DTYPES = {
    "float32": "F32", "float64": "F64", "float16": "F16", "bfloat16": "BF16", "int64": "I64",
    "int32": "I32", "int16": "I16", "int8": "I8", "uint8": "U8", "bool": "BOOL",
    "complex64": "C64", "complex128": "C128", "uint16": "U16", "uint32": "U32", "uint64": "U64",
    "float8_e4m3fn": "F8_E4M3", "float8_e5m2": "F8_E5M2",
}  # fmt: skip

_LONGEST_PLACE = 10_000  # characters; a guess, far above the name of any tensor


@dataclass(frozen=True, slots=True)
class Storage:
    """A member of the archive that holds elements of one dtype."""

    key: str
    dtype: str
    num_elements: int


@dataclass(frozen=True, slots=True)
class Tensor:
    """A tensor in the pickle: a window on a storage, its bytes not read."""

    storage: Storage
    offset: int
    shape: tuple[int, ...]
    stride: tuple[int, ...]


def read(view: Bytes) -> Contents:
    """Return the tensors and plain values of an archive.

    Raises:
        UnsafeError: its pickle names something that could run code.
        FormatError: it is no such archive, or damaged.
    """
    archive = _open(view)
    members = {info.filename: info for info in archive.infolist()}
    pickles = [name for name in members if name.endswith("data.pkl")]
    if len(pickles) != 1:
        raise FormatError(f"it holds {len(pickles)} files data.pkl, a torch archive has one")
    refuse_packed(members.values())
    document = load(bytes_of(view, members[pickles[0]]), _allowed(), _storage_of)
    prefix = pickles[0].removesuffix("data.pkl")
    spans = [_span(view, members, prefix, name, tensor) for name, tensor in tensors_of(document)]
    return Contents(spans=tuple(spans), document=document)


def tensors_of(document: Any) -> Iterator[tuple[str, Tensor]]:
    """Yield each tensor in a document with its place, as `state.0.exp_avg`.

    A container met again is passed over: pickles can hold themselves, and share one list often
    enough to keep a reader busy for years.
    """
    seen: set[int] = set()
    waiting: list[tuple[str, Any]] = [("", document)]
    while waiting:
        path, value = waiting.pop()
        if len(path) > _LONGEST_PLACE:
            raise FormatError("its values are nested too deeply, or under too long a name")
        if isinstance(value, Tensor):
            yield path, value
        elif isinstance(value, dict | list | tuple) and id(value) not in seen:
            seen.add(id(value))
            items = dict.items(value) if isinstance(value, dict) else enumerate(value)
            below = [(f"{path}.{key}" if path else str(key), item) for key, item in items]
            waiting.extend(reversed(below))


def _open(view: Bytes) -> zipfile.ZipFile:
    if bytes(view[:1]) == pickle.PROTO:
        load(bytes(view[: 2**20]), _allowed(), lambda pid: pid)  # names what is unsafe in it
        raise FormatError("it is a bare pickle, not a torch archive; save it with torch.save again")
    return open_archive(view)


def _span(
    view: Bytes, members: dict[str, zipfile.ZipInfo], prefix: str, name: str, tensor: Tensor
) -> Span:
    storage = tensor.storage
    member = members.get(f"{prefix}data/{storage.key}")
    if member is None:
        raise FormatError(f"tensor {name!r} lies in data/{storage.key}, which is not there")
    start, end = place_of(view, member)
    if storage.num_elements * ITEM_BYTES[storage.dtype] != end - start:
        raise FormatError(
            f"tensor {name!r} needs {storage.num_elements} elements {storage.dtype}, "
            f"data/{storage.key} has {end - start} bytes"
        )
    _check_window(name, tensor)
    return Span(name, storage.dtype, tensor.shape, start, end)


def _check_window(name: str, tensor: Tensor) -> None:
    sizes = (*tensor.shape, *tensor.stride, tensor.offset)
    if len(tensor.shape) != len(tensor.stride) or not all(
        type(size) is int and size >= 0 for size in sizes
    ):
        raise FormatError(f"tensor {name!r} has no proper shape, stride and offset")
    last = tensor.offset + sum(
        (size - 1) * step for size, step in zip(tensor.shape, tensor.stride, strict=True)
    )
    if 0 not in tensor.shape and last >= tensor.storage.num_elements:
        raise FormatError(f"tensor {name!r} of shape {list(tensor.shape)} reaches past its storage")


def _storage_of(pid: Any) -> Storage:
    try:
        _, kind, key, _, num_elements = pid
        num_bytes(kind.dtype, (num_elements,))
    except (TypeError, ValueError, AttributeError) as error:
        raise FormatError(f"it refers to a storage in an unknown way ({error})") from error
    return Storage(str(key), kind.dtype, int(num_elements))


@dataclass(frozen=True, slots=True)
class _Kind:
    dtype: str


def _tensor(storage: Any, offset: int, shape: Any, stride: Any, *_: Any) -> Tensor:
    if not isinstance(storage, Storage):
        raise FormatError("it rebuilds a tensor from something that is no storage")
    return Tensor(storage, offset, tuple(shape), tuple(stride))


def _kind(dtype: str) -> Callable[..., Any]:
    return _Kind(dtype)  # type: ignore[return-value]  # a name that pickles refer to, never call


def _allowed() -> Allowed:
    return {
        **PLAIN,
        "torch._utils._rebuild_tensor_v2": _tensor,
        "torch._utils._rebuild_parameter": lambda tensor, *_: tensor,
        "torch.Size": lambda sizes=(): tuple(sizes),
        "torch.serialization._get_layout": record("layout"),
        "torch.device": record("device"),
        **{f"torch.{name}": _kind(dtype) for name, dtype in _STORAGES.items()},
        **{f"torch.storage.{name}": _kind(dtype) for name, dtype in _STORAGES.items()},
        **{f"torch.{name}": _kind(dtype) for name, dtype in DTYPES.items()},
    }
