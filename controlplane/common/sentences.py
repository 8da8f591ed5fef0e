"""What is stored in English, shown in the language of the page.

Findings, faults, events and reasons are made and kept in English (docs/decisions/0010-sentences.md). The catalogue has how
each of them is made, under the contexts below; a page asks here, the API and the command line do not.
"""

from collections.abc import Iterator
from functools import cache

from django.utils.translation import get_language, trans_real

from controlplane.common.phrasebook import Phrasebook
from controlplane.common.sentence_texts import OWN_WORDS

# `controlplane.common.fixed_texts` and `sentence_sources` put them into the catalogue.
CONTEXTS = ("sentence", "rule", "quantity", "where", "source")
_BETWEEN = "\x04"  # between context and text, as gettext stores them


def sentence(text: str) -> str:
    """Return a stored English text in the language of the page; what is not known stays as it is."""
    language = get_language() or "en"
    if not text or language.startswith("en"):
        return text
    return book(language).translated(text)


@cache
def book(language: str) -> Phrasebook:
    """Return the sentences of a language, as its compiled catalogue has them."""
    return Phrasebook(dict(_texts(language)), OWN_WORDS)


def _texts(language: str) -> Iterator[tuple[str, str]]:
    # As Django's own JSONCatalog reads it: there is no public way to list a catalogue.
    catalogue = trans_real.translation(language)._catalog  # type: ignore[attr-defined]
    for key, told in catalogue.items():
        context, _, text = key.partition(_BETWEEN) if isinstance(key, str) else ("", "", "")
        if context in CONTEXTS and text:
            yield text.replace("%%", "%"), told.replace("%%", "%")
