"""Look at one line of a JSONL file: is it a record, and does it mean one thing only?"""

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from safehold.preflight.facts import Problem, ProblemKind
from safehold.preflight.gathering.lines import RawLine
from safehold.preflight.visible import visible

BOM = b"\xef\xbb\xbf"
_HALVES = (b"\\ud", b"\\uD")  # how JSON escapes a surrogate


@dataclass
class Record:
    """What a line holds; `value` is None where it is no record."""

    value: dict[str, Any] | None
    problems: list[Problem] = field(default_factory=list)


@dataclass
class _Notes:
    """What the parser met on its way."""

    duplicates: list[str] = field(default_factory=list)
    numbers: list[str] = field(default_factory=list)

    def table(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) != len(pairs):
            names = [name for name, _ in pairs]
            self.duplicates += sorted({name for name in names if names.count(name) > 1})
        return found

    def integer(self, text: str) -> int | str:
        if len(text) < 19:
            return int(text)
        value: int | str = int(text) if len(text) < 1000 else text
        if not isinstance(value, int) or not -(2**63) <= value < 2**63:
            self.numbers.append(text)
        return value

    def real(self, text: str) -> float:
        value = float(text)
        if not math.isfinite(value):
            self.numbers.append(text)
        return value

    def constant(self, text: str) -> float:
        self.numbers.append(text)
        return float(text)


def read_record(line: RawLine) -> Record:
    """Parse a line that is not blank, a byte-order mark and carriage return already taken off."""
    if line.content is None:
        return _bad(line, "too_long", "It is longer than 64 MiB.")
    try:
        text = line.content.decode()
    except UnicodeDecodeError as error:
        byte = f"Byte 0x{line.content[error.start]:02x} is not UTF-8."
        return _bad(line, "not_utf8", byte, line.offset + error.start)
    notes = _Notes()
    try:
        value = json.loads(
            text,
            object_pairs_hook=notes.table,
            parse_int=notes.integer,
            parse_float=notes.real,
            parse_constant=notes.constant,
        )
    except json.JSONDecodeError as error:
        place = line.offset + len(text[: error.pos].encode())
        cut = (
            "" if line.has_line_feed else " The file ends here without a line feed; it may be cut."
        )
        return _bad(line, "not_json", f"{error.msg} at character {error.pos + 1}.{cut}", place)
    except RecursionError:
        return _bad(line, "not_json", "It is nested too deeply.")
    if not isinstance(value, dict):
        return _bad(line, "not_a_record", f"It holds a {json_type(value)}, not an object.")
    found = [_problem(line, kind, detail) for kind, detail in _judge(line.content, value, notes)]
    return Record(value, found)


def json_type(value: object) -> str:
    """Return JSON's word for the type of a value."""
    if value is None:
        return "null"
    names: dict[type, str] = {
        bool: "boolean",
        int: "number",
        float: "number",
        str: "string",
        list: "list",
    }
    return names.get(type(value), "object")


def _judge(
    content: bytes, value: dict[str, Any], notes: _Notes
) -> Iterator[tuple[ProblemKind, str]]:
    for name in notes.duplicates:
        yield "duplicate_key", f"The key {visible(name)!r} stands twice."
    for number in notes.numbers:
        yield (
            "number_out_of_range",
            f"{visible(number, 40)} does not fit 64 bits or is no JSON number.",
        )
    if not isinstance(value.get("text"), str):
        what = (
            f"`text` is a {json_type(value['text'])}" if "text" in value else "There is no `text`"
        )
        yield "no_text", f"{what}."
    elif not value["text"].strip() and "text" not in notes.duplicates:
        yield "empty_text", "`text` is empty."
    if any(half in content for half in _HALVES):
        for path in _paths(value, _is_not_encodable):
            yield "not_encodable", f"`{path}` holds half of a surrogate pair."
    if b"\\u0000" in content:
        for path in _paths(value, lambda text: "\0" in text):
            yield "nul", f"`{path}` holds NUL."


def _is_not_encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False


def _paths(value: Any, is_bad: Any, path: str = "") -> Iterator[str]:
    if isinstance(value, str):
        if is_bad(value):
            yield path
    elif isinstance(value, dict):
        for name, item in value.items():
            below = f"{path}.{visible(name)}" if path else visible(name)
            if is_bad(name):
                yield below
            yield from _paths(item, is_bad, below)
    elif isinstance(value, list):
        for number, item in enumerate(value):
            yield from _paths(item, is_bad, f"{path}[{number}]")


def _problem(line: RawLine, kind: ProblemKind, detail: str, offset: int | None = None) -> Problem:
    return Problem(kind, line.number, line.offset if offset is None else offset, detail)


def _bad(line: RawLine, kind: ProblemKind, detail: str, offset: int | None = None) -> Record:
    return Record(None, [_problem(line, kind, detail, offset)])
