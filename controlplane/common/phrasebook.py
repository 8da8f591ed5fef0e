"""Which sentence a text is, and how another language says it. Pure.

A sentence that a program made stands there with its values filled in: "3 files below /data are in a form that is not
read." The book knows how it is made, "{1} files below {2} are in a form that is not read.", and how the other language
says that. Values that are sentences themselves are told too. Where a text can be read in several ways, the one that
leaves the fewest letters untold counts; a text that is not known stays as it is.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

VALUE = re.compile(r"\{(\d+)\}")
# With fewer letters of its own, as in "{1}: {2}", a sentence is only believed where one of its values is known too, or
# all are names and numbers.
ENOUGH_LETTERS = 8
# What is longer holds the end of a log or a person's own words; sentences with few letters of their own are shorter still.
LONGEST = 2000
LONGEST_WEAK = 300
# Parts of one text that are read: ours have some fifty. A text made of nothing but joints has thousands, and would keep
# a page waiting for seconds: it stays as it is.
MOST_PARTS = 300
MOST_KEPT = 8192
_AROUND = re.compile(r"([ ,]*)(.*?)([ ,]*)", re.S)  # a part may follow another one: ", step 400"
_LETTER = re.compile(r"[^\W\d_]")
_NUMBER = re.compile(r"[-+−–\d.,:%×eE ]*")
_NEXT_SENTENCE = re.compile(r"(?<=[.!?…])( +)(?=[^a-z ])")
_WIDE = "\u2e80-\u9fff\uff00-\uffef"  # Han and its punctuation: no space stands between two of them
_ENDS_WIDE = re.compile(rf"[{_WIDE}] *$")
_BEGINS_WIDE = re.compile(rf" *[{_WIDE}]")


@dataclass(frozen=True)
class Told:
    """A text in the other language, and how many of its letters are as they were."""

    text: str
    num_untold: int


@dataclass(frozen=True)
class Phrase:
    """How a sentence is made: the fixed `pieces` around its values, and the translation with its numbered values."""

    pieces: tuple[str, ...]
    translation: str

    @property
    def num_letters(self) -> int:
        """How much of it is fixed."""
        return _num_letters("".join(self.pieces))

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


_Known: TypeAlias = dict[str, Told | None]  # the parts of a text that were read


class _TooManyParts(Exception):
    pass


class Phrasebook:
    """All sentences of one language.

    Args:
        texts: How each sentence is made, its values as `{1}`, `{2}` … in this order -> its translation.
    """

    def __init__(self, texts: Mapping[str, str]) -> None:
        self._whole = {text: told for text, told in texts.items() if not VALUE.search(text)}
        phrases = [
            Phrase(tuple(VALUE.split(text)[::2]), told)
            for text, told in texts.items()
            if VALUE.search(text)
        ]
        # Of two readings that tell as much the one counts whose fixed part begins the text.
        phrases.sort(
            key=lambda one: (not one.pieces[0], -one.num_letters, -sum(map(len, one.pieces)))
        )
        self._strong = [one for one in phrases if one.num_letters >= ENOUGH_LETTERS]
        self._weak = [one for one in phrases if one.num_letters < ENOUGH_LETTERS]
        self._kept = lru_cache(MOST_KEPT)(self._translated)

    def translated(self, text: str) -> str:
        """Return the text in the language of the book; what is not known stays as it is."""
        return self._kept(text) if len(text) <= LONGEST else text

    def _translated(self, text: str) -> str:
        try:
            told = self._told(text, {})
        except _TooManyParts:
            told = None
        return told.text.strip() if told else text

    def _told(self, text: str, known: _Known) -> Told | None:
        """Return the translation of a text, with what stands around it; None where nothing of it is known."""
        around = _AROUND.fullmatch(text)
        if around is None or not (part := around[2]):
            return None
        if part not in known:
            if len(known) >= MOST_PARTS:
                raise _TooManyParts
            known[part] = None  # counts while it is read; no part holds itself
            known[part] = self._best(part, known)
        told = known[part]
        return told and Told(f"{around[1]}{told.text}{around[3]}", told.num_untold)

    def _best(self, text: str, known: _Known) -> Told | None:
        if text in self._whole:
            return Told(self._whole[text], 0)
        best: Told | None = None
        for told in self._readings(text, known):
            if best is None or told.num_untold < best.num_untold:
                best = told
            if not best.num_untold:
                break
        return best

    def _readings(self, text: str, known: _Known) -> Iterator[Told]:
        yield from self._in_turn(text, known)
        for phrase in self._strong:
            for values in phrase.values_in(text):
                yield self._filled(phrase, values, [self._told(one, known) for one in values])
                break
        for phrase in self._weak if len(text) <= LONGEST_WEAK else ():
            for values in phrase.values_in(text):
                told = [self._told(one, known) for one in values]
                if any(told) or _is_plain(values):
                    # "is" alone makes no sentence of ours: what it tells must be more than that.
                    untold = min(phrase.num_letters, len("is"))
                    yield self._filled(phrase, values, told, num_untold=untold)

    def _filled(
        self, phrase: Phrase, values: list[str], told: list[Told | None], num_untold: int = 0
    ) -> Told:
        known = [
            one or Told(value, _num_letters(value)) for one, value in zip(told, values, strict=True)
        ]
        text = phrase.filled([one.text for one in known])
        return Told(text, num_untold + sum(one.num_untold for one in known))

    def _in_turn(self, text: str, known: _Known) -> Iterator[Told]:
        """Tell sentence by sentence, where one is known."""
        parts = _NEXT_SENTENCE.split(text)
        told = [self._told(part, known) for part in parts[::2]] if len(parts) > 1 else []
        if not any(told):
            return
        shown = [one.text if one else part for one, part in zip(told, parts[::2], strict=True)]
        untold = [
            one.num_untold if one else _num_letters(part)
            for one, part in zip(told, parts[::2], strict=True)
        ]
        spaces = [
            "" if _ENDS_WIDE.search(one) else space
            for one, space in zip(shown, [*parts[1::2], ""], strict=True)
        ]
        yield Told("".join(map("".join, zip(shown, spaces, strict=True))), sum(untold))


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


def _is_plain(values: list[str]) -> bool:
    """Whether they are names and numbers, one number at least: no words of a person."""
    return any(map(_NUMBER.fullmatch, values)) and not any(" " in value for value in values)


def _joined(parts: Iterable[str]) -> str:
    text = ""
    for part in parts:
        if _ENDS_WIDE.search(text) and _BEGINS_WIDE.match(part):
            text, part = text.rstrip(), part.lstrip()
        if part[:1] == "。" and text[-1:] in {"。", "."}:
            text = text[:-1]
        text += part
    return text


def _num_letters(text: str) -> int:
    return len(_LETTER.findall(text))
