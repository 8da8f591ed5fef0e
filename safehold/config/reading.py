"""Read a config from TOML, YAML 1.2 or JSON text, with the line of each field."""

import json
import re
import tomllib
from collections import Counter
from pathlib import Path
from typing import Any, Literal, NoReturn

import yaml

from safehold.config import yaml12
from safehold.config.errors import ConfigError, ConfigInvalid
from safehold.config.schema import RunConfig
from safehold.config.validation import parse

Format = Literal["toml", "yaml", "json"]
SUFFIXES: dict[str, Format] = {".toml": "toml", ".yaml": "yaml", ".yml": "yaml", ".json": "json"}
LARGEST_BYTES = 1 << 20  # a config is typed by people; our largest example has 3 KB
TOML_KEY = r'(?:"[^"]*"|\'[^\']*\'|[A-Za-z0-9_-]+)'
TOML_PATH = rf"{TOML_KEY}(?:\s*\.\s*{TOML_KEY})*"
TOML_TABLE = re.compile(rf"^\s*\[\s*({TOML_PATH})\s*\]")
TOML_ROW = re.compile(rf"^\s*\[\[\s*({TOML_PATH})\s*\]\]")
TOML_FIELD = re.compile(rf"^\s*({TOML_PATH})\s*=")


def read_file(path: str | Path) -> RunConfig:
    """Read a config file; the suffix names its format.

    Raises:
        ConfigInvalid: The content is no run config.
        OSError: The file cannot be read.
    """
    format = format_of(path)
    return read_text(Path(path).read_bytes(), format)


def format_of(path: str | Path) -> Format:
    """Return the format that the suffix of a file names.

    Raises:
        ConfigInvalid: It names none.
    """
    suffix = Path(path).suffix.lower()
    if suffix not in SUFFIXES:
        _refuse(f"{path} ends in {suffix or 'nothing'}.", "Name it .toml, .yaml or .json.")
    return SUFFIXES[suffix]


def read_text(text: str | bytes, format: Format = "toml") -> RunConfig:
    """Read a config.

    Raises:
        ConfigInvalid: With every fault, each with its field, and its line where known.
    """
    document, lines = read_document(text, format)
    return parse(document, lines)


def read_document(
    text: str | bytes, format: Format = "toml"
) -> tuple[dict[str, Any], dict[str, int]]:
    """Return the plain values of a text and the line of every dotted path (none for JSON).

    Raises:
        ConfigInvalid: The text is not well-formed, or has a key twice.
    """
    plain = _decoded(text)
    readers = {"toml": _read_toml, "yaml": _read_yaml, "json": _read_json}
    try:
        document, lines = readers[format](plain)
    except RecursionError:
        _refuse("The document is nested too deeply.")
    if not isinstance(document, dict):
        _refuse(
            "The document is not a table of sections.",
            'Begin with `name = "…"`.' if format == "toml" else "",
        )
    return document, lines


def _decoded(text: str | bytes) -> str:
    if len(text) > LARGEST_BYTES:
        _refuse(f"The document has {len(text)} bytes; at most {LARGEST_BYTES} are read.")
    if isinstance(text, str):
        return text.removeprefix("\ufeff")
    try:
        return text.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = text[: error.start].count(b"\n") + 1
        _refuse(f"Byte {error.start} is not UTF-8.", "Save the file as UTF-8.", line=line)


def _read_toml(text: str) -> tuple[Any, dict[str, int]]:
    try:
        return tomllib.loads(text.replace("\r\n", "\n")), _toml_lines(text)
    except ValueError as error:  # TOMLDecodeError, and an integer with too many digits
        found = re.search(r" \(at (?:line (\d+), column \d+|end of document)\)$", str(error))
        _refuse(
            f"Not valid TOML: {str(error)[: found.start()] if found else error}.",
            line=int(found[1]) if found and found[1] else None,
        )


def _toml_lines(text: str) -> dict[str, int]:
    lines: dict[str, int] = {}
    table, num_rows = "", Counter[str]()
    for number, line in enumerate(text.split("\n"), start=1):
        if row := TOML_ROW.match(line):
            name = _dotted(row[1])
            table = f"{name}.{num_rows[name]}"
            num_rows[name] += 1
            lines.setdefault(name, number)
            lines.setdefault(table, number)
        elif header := TOML_TABLE.match(line):
            table = _dotted(header[1])
            lines.setdefault(table, number)
        elif field := TOML_FIELD.match(line):
            name = _dotted(field[1])
            lines.setdefault(f"{table}.{name}" if table else name, number)
    return lines


def _dotted(path: str) -> str:
    return ".".join(part.strip("\"'") for part in re.findall(TOML_KEY, path))


def _read_yaml(text: str) -> tuple[Any, dict[str, int]]:
    try:
        return yaml12.load(text)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        _refuse(
            f"Not valid YAML 1.2: {error.problem or error.context}.",
            line=mark.line + 1 if mark else None,
        )
    except (yaml.YAMLError, ValueError) as error:
        _refuse(f"Not valid YAML 1.2: {str(error).splitlines()[0]}.")


def _read_json(text: str) -> tuple[Any, dict[str, int]]:
    try:
        return json.loads(text, object_pairs_hook=_single, parse_constant=_no_constant), {}
    except json.JSONDecodeError as error:
        _refuse(f"Not valid JSON: {error.msg}.", line=error.lineno)
    except ValueError as error:
        if isinstance(error, ConfigInvalid):
            raise
        _refuse(f"Not valid JSON: {error}.")


def _single(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    table: dict[str, Any] = {}
    for key, value in pairs:
        if key in table:
            _refuse(f"The key {key!r} stands twice.", "Keep one of them.", path=key)
        table[key] = value
    return table


def _no_constant(name: str) -> NoReturn:
    _refuse(f"{name} is not a number that a config can hold.")


def _refuse(message: str, hint: str = "", *, line: int | None = None, path: str = "") -> NoReturn:
    raise ConfigInvalid([ConfigError(path, message, hint, line)])
