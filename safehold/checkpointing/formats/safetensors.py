"""The safetensors header, checked against the file before anything is sized by it.

Source:
    Format description, https://huggingface.co/docs/safetensors/index#format
"""

from __future__ import annotations

import json
import struct
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, TypeGuard

from safehold.checkpointing.formats.base import Bytes, Contents, FormatError, Span, num_bytes

# The format's own bound, so that a small file cannot make us parse for minutes.
_LARGEST_HEADER_BYTES = 100_000_000


def read(view: Bytes) -> Contents:
    """Return the tensors of a mapped file; reads the header only.

    Raises:
        FormatError: length, JSON, dtype, shape or offsets do not fit the file.
    """
    start, header = _header(view)
    metadata = header.pop("__metadata__", {})
    if not isinstance(metadata, dict):
        raise FormatError("its __metadata__ is not a map")
    spans = sorted(
        (_span(name, item, start) for name, item in header.items()),
        key=lambda span: (span.start, span.end),
    )
    _check_cover(spans, start, len(view))
    return Contents(spans=tuple(spans), metadata={str(k): str(v) for k, v in metadata.items()})


def header_of(tensors: Iterable[Span], metadata: Mapping[str, str]) -> bytes:
    """Return length and header for tensors whose offsets count from the end of the header."""
    document: dict[str, Any] = {"__metadata__": dict(metadata)}
    for span in tensors:
        document[span.name] = {
            "dtype": span.dtype,
            "shape": list(span.shape),
            "data_offsets": [span.start, span.end],
        }
    content = json.dumps(document, separators=(",", ":")).encode()
    content += b" " * (-len(content) % 8)
    return struct.pack("<Q", len(content)) + content


def _header(view: Bytes) -> tuple[int, dict[str, Any]]:
    if len(view) < 8:
        raise FormatError(f"it has {len(view)} bytes, too few for the length of a header")
    (length,) = struct.unpack("<Q", view[:8])
    if length > len(view) - 8:
        raise FormatError(
            f"its header claims {length} bytes, the file has {len(view) - 8} after the length"
        )
    if length > _LARGEST_HEADER_BYTES:
        raise FormatError(f"its header claims {length} bytes; at most {_LARGEST_HEADER_BYTES}")
    try:
        header = json.loads(bytes(view[8 : 8 + length]), object_pairs_hook=_unique)
    except (ValueError, RecursionError) as error:
        raise FormatError(f"its header is not valid JSON ({error})") from error
    if not isinstance(header, dict):
        raise FormatError("its header is not a map")
    return 8 + length, header


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        twice = Counter(name for name, _ in pairs).most_common(1)[0][0]
        raise ValueError(f"{twice!r} stands twice")
    return found


def _span(name: str, item: Any, start: int) -> Span:
    if not isinstance(item, dict):
        raise FormatError(f"tensor {name!r} is not a map")
    shape, offsets = item.get("shape"), item.get("data_offsets")
    if not _are_counts(shape) or not _are_counts(offsets) or len(offsets) != 2:
        raise FormatError(f"tensor {name!r} has no proper shape and offsets")
    begin, end = offsets
    dtype = str(item.get("dtype"))
    try:
        need = num_bytes(dtype, tuple(shape))
    except FormatError as error:
        raise FormatError(f"tensor {name!r}: {error}") from error
    if need != end - begin:
        raise FormatError(
            f"tensor {name!r} of shape {shape} needs {need} bytes, its offsets give {end - begin}"
        )
    return Span(name, dtype, tuple(shape), start + begin, start + end)


def _are_counts(value: Any) -> TypeGuard[list[int]]:
    return isinstance(value, list) and all(type(item) is int and item >= 0 for item in value)


def _check_cover(spans: list[Span], start: int, size: int) -> None:
    """Every byte belongs to exactly one tensor: no gap, no overlap, nothing beyond the file."""
    at = start
    for span in spans:
        if span.start != at:
            words = "overlaps another" if span.start < at else "leaves a gap before it"
            raise FormatError(f"tensor {span.name!r} {words}")
        at = span.end
    if at > size:
        raise FormatError(f"its tensors end at byte {at}, the file at {size}: it was cut short")
    if at < size:
        raise FormatError(f"{size - at} bytes after the last tensor belong to none")
