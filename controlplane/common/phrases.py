"""How one sentence is made, and what it is with other values. Pure."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

VALUE = re.compile(r"\{(\d+)\}")
_LETTER = re.compile(r"[^\W\d_]")
_WIDE = "\u2e80-\u9fff\uff00-\uffef"  # Han and its punctuation: no space stands between two of them
ENDS_WIDE = re.compile(rf"[{_WIDE}] *$")
_BEGINS_WIDE = re.compile(rf" *[{_WIDE}]")


@dataclass(frozen=True)
class Phrase:
    """How a sentence is made: the fixed `pieces` around its values, and the translation with its numbered values."""

    pieces: tuple[str, ...]
    translation: str

    @property
    def num_letters(self) -> int:
        """How much of it is fixed."""
        return num_letters("".join(self.pieces))

    def values_in(self, text: str) -> Iterator[list[str]]:
        """Yield the values where the text is such a sentence; where there are two, at each place that can divide them."""
        first, *middle, last = self.pieces
        end = len(text) - len(last)
        if end < len(first) or not (text.startswith(first) and text.endswith(last)):
            return
        values = _between(text, len(first), middle, end)
        while values is not None:
            yield values
            again = len(first) + len(values[0]) + 1
            values = _between(text, again, middle, end) if len(middle) == 1 else None
            if values is not None:
                values[0] = text[len(first) : again] + values[0]

    def filled(self, values: list[str]) -> str:
        """Return the translation with these values."""
        parts = VALUE.split(self.translation)
        return _joined(
            values[int(part) - 1] if is_value else part
            for part, is_value in zip(parts, [False, True] * len(parts), strict=False)
        )


def num_letters(text: str) -> int:
    """Return how many letters a text has."""
    return len(_LETTER.findall(text))


def _between(text: str, at: int, middle: list[str], end: int) -> list[str] | None:
    """Return the values between the pieces, each as short as it can be; None where a piece is missing."""
    values = []
    for piece in middle:
        found = text.find(piece, at, end)
        if found < 0:
            return None
        values.append(text[at:found])
        at = found + len(piece)
    return [*values, text[at:end]]


def _joined(parts: Iterable[str]) -> str:
    text = ""
    for part in parts:
        if ENDS_WIDE.search(text) and _BEGINS_WIDE.match(part):
            text, part = text.rstrip(), part.lstrip()
        if part[:1] == "。" and text[-1:] in {"。", "."}:
            text = text[:-1]
        text += part
    return text
