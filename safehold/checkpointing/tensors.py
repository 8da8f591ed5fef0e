"""Tensors to and from safetensors files, bit for bit, one tensor in memory at a time."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Mapping
from pathlib import Path

import torch
from torch import Tensor

from safehold.checkpointing.formats import safetensors
from safehold.checkpointing.formats.base import FormatError, Span, View
from safehold.manifest import TensorEntry, open_inside

_NAMES = {
    torch.float64: "F64", torch.float32: "F32", torch.float16: "F16", torch.bfloat16: "BF16",
    torch.int64: "I64", torch.int32: "I32", torch.int16: "I16", torch.int8: "I8",
    torch.uint8: "U8", torch.bool: "BOOL", torch.complex64: "C64",
    torch.float8_e4m3fn: "F8_E4M3", torch.float8_e5m2: "F8_E5M2",
}  # fmt: skip
_DTYPES = {name: dtype for dtype, name in _NAMES.items()}
# Written and digested in pieces, so that both find the bytes in the cache.
_PIECE_BYTES = 8 * 2**20


def entries_of(tensors: Mapping[str, Tensor]) -> tuple[TensorEntry, ...]:
    """Return names, shapes and dtypes for the manifest, in the file's order."""
    return tuple(
        TensorEntry(name, tuple(tensor.shape), _name_of(name, tensor.dtype))
        for name, tensor in sorted(tensors.items())
    )


def entries_in(folder: Path, path: str) -> tuple[TensorEntry, ...]:
    """Return what a file below a folder says that it holds; only its header is read.

    Raises:
        FormatError: the file is damaged.
        PathError: the path leaves the folder.
    """
    with os.fdopen(open_inside(folder, path), "rb") as file:
        spans = safetensors.read(View(file.fileno())).spans
    return tuple(TensorEntry(span.name, span.shape, span.dtype) for span in spans)


def chunks_of(tensors: Mapping[str, Tensor], metadata: Mapping[str, str]) -> Iterator[memoryview]:
    """Yield a safetensors file piece by piece; a tensor of a device is copied when its turn comes.

    Raises:
        FormatError: a tensor has a dtype that the format does not know.
    """
    names = sorted(tensors)
    spans, at = [], 0
    for name in names:
        tensor = tensors[name]
        size = tensor.numel() * tensor.element_size()
        spans.append(Span(name, _name_of(name, tensor.dtype), tuple(tensor.shape), at, at + size))
        at += size
    yield memoryview(safetensors.header_of(spans, metadata))
    for name in names:
        view = _bytes_of(tensors[name])
        for start in range(0, len(view), _PIECE_BYTES):
            yield view[start : start + _PIECE_BYTES]


def load_file(folder: Path, path: str) -> Iterator[tuple[str, Tensor]]:
    """Yield the tensors of a file below a folder, on the CPU, one at a time.

    Raises:
        FormatError: the file is damaged.
        PathError: the path leaves the folder.
    """
    with os.fdopen(open_inside(folder, path), "rb") as file:
        contents = safetensors.read(View(file.fileno()))
        for span in contents.spans:
            yield span.name, _read(file.fileno(), span)


def _name_of(name: str, dtype: torch.dtype) -> str:
    if dtype not in _NAMES:
        raise FormatError(f"Tensor {name} has dtype {dtype}, which safetensors cannot hold.")
    return _NAMES[dtype]


def _bytes_of(tensor: Tensor) -> memoryview:
    """Return the tensor's bytes on the CPU; a host sync where it lies on a device."""
    flat = tensor.detach().cpu().contiguous().reshape(-1)
    if not flat.numel():
        return memoryview(b"")
    return flat.view(torch.uint8).numpy().data


def _read(descriptor: int, span: Span) -> Tensor:
    buffer = bytearray(span.end - span.start)
    view, at = memoryview(buffer), span.start
    while view:
        num_read = os.preadv(descriptor, [view[: 2**30]], at)
        if not num_read:
            raise FormatError(f"The file ends inside tensor {span.name}.")
        view, at = view[num_read:], at + num_read
    if not math.prod(span.shape):
        return torch.empty(span.shape, dtype=_DTYPES[span.dtype])
    return torch.frombuffer(buffer, dtype=_DTYPES[span.dtype]).reshape(span.shape)
