"""Which sentence a text is, and how another language says it. Pure.

A sentence that a program made stands there with its values filled in: "3 files below /data are in a form that is not
read." The book knows how it is made, "{1} files below {2} are in a form that is not read.", and how the other language
says that. Values that are sentences themselves are told too. Where a text can be read in several ways, the one that
leaves the fewest letters untold counts; a text that is not known stays as it is. Where a sentence gives a person's own
words, its values stay as they were written, whatever else the text could be read as.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

from controlplane.common.phrases import ENDS_WIDE, VALUE, Phrase, num_letters

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
_NUMBER = re.compile(r"[-+−–\d.,:%×eE ]*")
_NEXT_SENTENCE = re.compile(r"(?<=[.!?…])( +)(?=[^a-z ])")


@dataclass(frozen=True)
class Told:
    """A text in the other language, and how many of its letters are as they were."""

    text: str
    num_untold: int


_Known: TypeAlias = dict[str, Told | None]  # the parts of a text that were read


class _TooManyParts(Exception):
    pass


class Phrasebook:
    """All sentences of one language.

    Args:
        texts: How each sentence is made, its values as `{1}`, `{2}` … in this order -> its translation.
        own_words: Which of them end with the words of a person.
    """

    def __init__(self, texts: Mapping[str, str], own_words: Iterable[str] = ()) -> None:
        self._whole = {text: told for text, told in texts.items() if not VALUE.search(text)}
        made = {text: _phrase(text, told) for text, told in texts.items() if VALUE.search(text)}
        self._own_words = [made.pop(text) for text in own_words if text in made]
        phrases = list(made.values())
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
        for phrase in self._own_words:
            for values in phrase.values_in(text):
                return phrase.filled(values)
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
            one or Told(value, num_letters(value)) for one, value in zip(told, values, strict=True)
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
            one.num_untold if one else num_letters(part)
            for one, part in zip(told, parts[::2], strict=True)
        ]
        spaces = [
            "" if ENDS_WIDE.search(one) else space
            for one, space in zip(shown, [*parts[1::2], ""], strict=True)
        ]
        yield Told("".join(map("".join, zip(shown, spaces, strict=True))), sum(untold))


def _phrase(text: str, told: str) -> Phrase:
    return Phrase(tuple(VALUE.split(text)[::2]), told)


def _is_plain(values: list[str]) -> bool:
    """Whether they are names and numbers, one number at least: no words of a person."""
    return any(map(_NUMBER.fullmatch, values)) and not any(" " in value for value in values)
