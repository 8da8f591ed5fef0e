"""Text that every machine with Python has: code, reference prose, and descriptions of packages."""

from __future__ import annotations

import importlib.metadata
import sysconfig
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

# Bounds keep the corpus near 9 MB, so that it is ready within seconds.
_LARGEST_BYTES = {"code": 5_500_000, "reference": 1_500_000, "web": 2_500_000}
_LARGEST_DOCUMENT = 24_000
_SMALLEST_DOCUMENT = 200
_SKIPPED_FOLDERS = {
    "test",
    "tests",
    "idlelib",
    "site-packages",
    "dist-packages",
    "__pycache__",
    "turtledemo",
}


class Text(NamedTuple):
    """A document before it is a record."""

    domain: str
    source: str
    text: str


def texts() -> Iterator[Text]:
    """Yield the documents of all domains, in an order that depends on this machine's Python only."""
    for domain, source in (("code", _code()), ("reference", _reference()), ("web", _web())):
        left = _LARGEST_BYTES[domain]
        for name, text in source:
            clean = text.replace("\0", "")[:_LARGEST_DOCUMENT]
            if len(clean) >= _SMALLEST_DOCUMENT and left > 0:
                left -= len(clean.encode(errors="replace"))
                yield Text(domain, name, clean)


def _code() -> Iterator[tuple[str, str]]:
    root = Path(sysconfig.get_paths()["stdlib"])
    for path in sorted(root.rglob("*.py")):
        place = path.relative_to(root)
        if _SKIPPED_FOLDERS.isdisjoint(place.parts) and place.parts[0] != "pydoc_data":
            text = _read(path)
            if text:
                yield place.as_posix(), text


def _reference() -> Iterator[tuple[str, str]]:
    from pydoc_data.topics import topics

    yield from sorted(topics.items())


def _web() -> Iterator[tuple[str, str]]:
    """Package descriptions: written for the web, in Markdown and reStructuredText."""
    found = {}
    for package in importlib.metadata.distributions():
        about = package.metadata.json
        found[str(about.get("name"))] = str(about.get("description") or "")
    yield from sorted(found.items())


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return ""
