"""From bytes to messages and back, by content type and encoding."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import msgpack

from safehold.wire.answers import Ack, read_ack
from safehold.wire.batch import Batch
from safehold.wire.errors import TooLarge, WireError
from safehold.wire.head import check_version
from safehold.wire.limits import CONTENT_MSGPACK, MAX_BODY_BYTES
from safehold.wire.packing import pack_batch, unpack_batch, unpack_map
from safehold.wire.points import read_json, read_points

# Below this size zstd saves less than a packet.
COMPRESS_FROM_BYTES = 4096


def encode(batch: Batch) -> bytes:
    """Return the msgpack body of a batch."""
    return pack_batch(batch)


def decode(
    body: bytes,
    content_type: str = CONTENT_MSGPACK,
    content_encoding: str = "",
    limit_bytes: int = MAX_BODY_BYTES,
) -> Batch:
    """Read a batch in either form.

    Args:
        body: As received.
        content_type: `application/msgpack` or `application/json`; parameters are ignored.
        content_encoding: Empty, `identity` or `zstd`.
        limit_bytes: Most bytes after decompression.

    Raises:
        UnsupportedVersion: answer with the supported ones (426).
        TooLarge: answer 413.
        WireError: answer 400 with field and reason.
    """
    data = read_map(body, content_type, content_encoding, limit_bytes)
    check_version(data)
    if "points" in data:
        return read_points(data)
    if is_json(content_type):
        raise WireError("points", "is missing; the JSON form is a list of points")
    return unpack_batch(data)


def read_map(
    body: bytes,
    content_type: str = CONTENT_MSGPACK,
    content_encoding: str = "",
    limit_bytes: int = MAX_BODY_BYTES,
) -> dict[str, Any]:
    """Return the map of any message: a batch, a piece of a log, an end, an answer."""
    plain = decompress(body, content_encoding, limit_bytes)
    return read_json(plain) if is_json(content_type) else unpack_map(plain)


def write_map(data: Mapping[str, Any], content_type: str = CONTENT_MSGPACK) -> bytes:
    """Return the bytes of a map in the form of `content_type`."""
    if is_json(content_type):
        return json.dumps(data, ensure_ascii=False, allow_nan=False).encode()
    packed: bytes = msgpack.packb(data)
    return packed


def encode_ack(ack: Ack, content_type: str = CONTENT_MSGPACK) -> bytes:
    """Return the answer in the same form as the request."""
    return write_map(ack.to_dict(), content_type)


def decode_ack(body: bytes, content_type: str = CONTENT_MSGPACK) -> Ack:
    """Read the answer to a batch.

    Raises:
        WireError: it is not one.
    """
    return read_ack(read_map(body, content_type))


def is_json(content_type: str) -> bool:
    """Say whether a content type is JSON (problem documents included)."""
    return content_type.partition(";")[0].strip().lower().endswith(("/json", "+json"))


def compress(body: bytes) -> tuple[bytes, str]:
    """Return the body and its content encoding; small bodies stay as they are."""
    if len(body) < COMPRESS_FROM_BYTES:
        return body, ""
    import zstandard

    return zstandard.ZstdCompressor(level=1).compress(body), "zstd"


def decompress(body: bytes, content_encoding: str, limit_bytes: int = MAX_BODY_BYTES) -> bytes:
    """Return the plain body, never more than `limit_bytes` of it.

    Raises:
        TooLarge: it is longer.
        WireError: the encoding is not known, or the bytes are not of it.
    """
    encoding = content_encoding.strip().lower()
    if encoding in ("", "identity"):
        if len(body) > limit_bytes:
            raise TooLarge("body", f"{len(body)} bytes; at most {limit_bytes} in one message")
        return body
    if encoding != "zstd":
        raise WireError("content-encoding", f"is {encoding!r:.40}; known: zstd")
    return _plain(body, limit_bytes)


def _plain(body: bytes, limit_bytes: int) -> bytes:
    import zstandard

    try:
        with zstandard.ZstdDecompressor().stream_reader(body) as reader:
            plain = reader.read(limit_bytes + 1)
    except zstandard.ZstdError as error:
        raise WireError("body", f"is not zstd ({error})") from error
    if len(plain) > limit_bytes:
        raise TooLarge("body", f"more than {limit_bytes} bytes after decompression")
    return plain
