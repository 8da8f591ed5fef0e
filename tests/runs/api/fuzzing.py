"""Requests that nobody should send, made from the OpenAPI document: a new operation is sent them by being in it."""

import json
import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from hypothesis import strategies as st

LARGEST = 2**63 - 1
Schema = Mapping[str, Any]
JUNK = st.sampled_from(
    [
        None, True, False, 0, -1, 1, 2**31, LARGEST, LARGEST + 1, -(2**64), 10**40, 0.5, -0.0, 1e308, "", " ", "a",
        "\0", "a\0b", "\ud800", "é漢字🙂", "\u202e\u200b", "x" * 300, "y" * 20_000, "../..", "%00", "' OR 1=1 --", "<b>",
        "9999-12-31T23:59:59.999999Z", "2026-13-45", "0001-01-01T00:00:00+23:59", "1e5", "nan", "-0", "07",
        [], [[]], [None], ["a", 1, {}], {}, {"": 1}, {"a": {"b": [1, None]}}, {"\0": 1}, [0] * 300,
    ]
)  # fmt: skip
BODIES = st.sampled_from(
    [
        b"", b" ", b"{", b"[]", b"null", b"NaN", b'"a"', b"\xff\xfe", b'\xef\xbb\xbf{}', b'{"a": NaN}', b'{"a": 1e999}',
        b'{"name": "a", "name": "b"}', b'{"a": "\\ud800"}', b'{"\\u0000": 1}', b"[" * 3000, b'{"a":' * 3000,
        b'{"data": ' + b'{"a": ' * 200 + b"1" + b"}" * 201, b'{"a": ' + b"9" * 5000 + b"}", '{"a": 1}'.encode("utf-16"),
        b'{"reason": "' + b"r" * (2 << 20) + b'"}',
    ]
)  # fmt: skip
TYPES = st.sampled_from(["application/json"] * 12 + ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=b",
    "application/json; charset=latin-1", "application/xml", "", "/", "application/json; charset=utf-8"])  # fmt: skip
_ODD = [
    "",
    "*",
    '"a"',
    'W/"x-y-z-w"',
    '"a", "b"',
    "é",
    "\x7f",
    "k" * 300,
    "2020-01-01T00:00:00+00:00",
    "-",
    "same",
]
HEADERS = st.sampled_from([{}] * 8 + [{name: odd} for name in ("If-Match", "Idempotency-Key") for odd in _ODD]
    + [{"Accept-Language": "zh-Hans"}, {"Accept-Language": "x" * 999}, {"Accept": "text/html"}])  # fmt: skip
TEXTS = ["0", "-1", str(LARGEST), str(LARGEST + 1), "9" * 5000, "1.5", "abc", "%00", "%F0%9F%99%82", "%ED%A0%80",
         "a%2Fb", "..", "x" * 300, "%E6%BC%A2", "true", "", "*"]  # fmt: skip


def requests(
    method: str, path: str, operation: Schema, document: Schema, known: Mapping[str, str]
) -> Any:
    """Return a strategy of (path, query, body, content type, headers) for an operation.

    Args:
        method: Lower case.
        path: With the names of its parameters in braces.
        operation: What the document says of it.
        document: For the schemas that it refers to.
        known: Parameters of the path -> one that is there.
    """  # fmt: skip
    schema = _body_schema(operation, document)
    body = _body(schema, document) if schema else st.one_of(st.just(b""), BODIES)
    # One that is there, three times in four: or nothing behind the path would be reached.
    places = [st.sampled_from([known.get(name, "1")] * 48 + TEXTS[:-2]) for name in re.findall(r"\{(\w+)\}", path)]  # fmt: skip
    return st.tuples(
        st.tuples(*places).map(lambda given: _filled(path, given)),
        _query(operation, document),
        body if method != "get" else st.just(b""),
        TYPES,
        HEADERS,
    )


def _filled(path: str, given: tuple[str, ...]) -> str:
    left = iter(given)
    return re.sub(r"\{\w+\}", lambda _: next(left), path)


def _query(operation: Schema, document: Schema) -> Any:
    known = [one for one in operation.get("parameters", []) if one["in"] == "query"]
    if not known:
        return st.sampled_from(["", "", "", "nonsense=1"])
    one = st.sampled_from(known).flatmap(
        lambda found: st.tuples(st.just(found["name"]), _word(found["schema"], document))
    )
    needed = [
        st.tuples(st.just(found["name"]), _word(found["schema"], document))
        for found in known
        if found.get("required")
    ]
    pairs = st.tuples(st.tuples(*needed), st.lists(one, max_size=3))
    return pairs.map(lambda found: "&".join(f"{name}={word}" for name, word in (*found[0], *found[1])))  # fmt: skip


def _word(schema: Schema, document: Schema) -> Any:
    good = value(schema, document).map(lambda one: quote(str(one), errors="replace"))
    return st.one_of(good, st.sampled_from(TEXTS))


def _body_schema(operation: Schema, document: Schema) -> Schema | None:
    content = operation.get("requestBody", {}).get("content", {})
    found: Schema | None = content.get("application/json", {}).get("schema")
    return found


def _body(schema: Schema, document: Schema) -> Any:
    made = value(schema, document).map(_written)
    return st.one_of(made, made, made, BODIES)


def _written(body: Any) -> bytes:
    return json.dumps(body).encode()


def value(schema: Schema, document: Schema, depth: int = 0) -> Any:
    """Return a strategy of what a schema asks for, and now and then of what it does not."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return value(document["components"]["schemas"][name], document, depth)
    if "enum" in schema:
        return st.one_of(st.sampled_from(schema["enum"]), JUNK)
    if choices := schema.get("anyOf") or schema.get("allOf"):
        return st.one_of(*(value(one, document, depth) for one in choices))
    if "const" in schema:
        return st.just(schema["const"])
    return _of_type(schema, document, depth)


def _of_type(schema: Schema, document: Schema, depth: int) -> Any:
    kind = schema.get("type")
    if kind == "object" and "properties" in schema:
        return _object(schema, document, depth)
    plain: dict[Any, Any] = {
        "object": st.dictionaries(st.sampled_from(["a", "network", "data", "plan", ""]), JUNK, max_size=3),
        "integer": st.sampled_from([1, 2, 5, 100, 0]),
        "number": st.sampled_from([0.5, 1, 1e-9, 1e30]),
        "boolean": st.booleans(),
        "string": st.sampled_from(["a", "ordinary text", "é", "2026-01-01T00:00:00Z"]),
        "null": st.none(),
    }  # fmt: skip
    if kind == "array":
        return st.one_of(st.lists(value(schema.get("items", {}), document, depth + 1), max_size=3), JUNK)  # fmt: skip
    return st.one_of(plain.get(kind, JUNK), plain.get(kind, JUNK), JUNK)


def _object(schema: Schema, document: Schema, depth: int) -> Any:
    needed = set(schema.get("required", ()))
    fields = {name: value(one, document, depth + 1) for name, one in schema["properties"].items()}
    whole = st.fixed_dictionaries(
        {name: fields[name] for name in fields if name in needed},
        optional={name: fields[name] for name in fields if name not in needed},
    )
    odd = st.tuples(whole, JUNK).map(lambda made: made[0] | {"unheard of": made[1]})
    return st.one_of(whole, whole, whole, odd)
