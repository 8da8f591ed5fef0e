"""The fixed texts of `safehold`, which knows no gettext.

Pages show them with `{% translate VARIABLE context "…" %}` or, those of the contexts of `sentences`, with the filter
`sentence`; the catalogue reads them from here.
"""

from collections.abc import Iterator

from controlplane.common.sentence_sources import sentences
from controlplane.common.sentence_texts import other_sentences
from safehold.config import all_fields, fields_of
from safehold.planning import CardFields
from safehold.planning.stages import STAGES
from safehold.rulebook import QUANTITIES, written

_IN_WORDS = {"task_form", "team", "data.quality", "data.origin"}


def fixed_texts() -> Iterator[tuple[str, str]]:
    """Yield each text and the context in which a template looks for it."""
    made = ((text, "sentence") for text in sentences())
    found = [*_of_fields(), *_of_choices(), *_of_rules(), *_of_stages(), *other_sentences(), *made]
    yield from dict.fromkeys((text, context) for text, context in found if text)


def _of_fields() -> Iterator[tuple[str, str]]:
    for spec in (*all_fields(), *fields_of(CardFields)):
        yield spec.title, "field"
        yield spec.description, "field"
        yield spec.unit, "unit"


def _of_choices() -> Iterator[tuple[str, str]]:
    """Yield the words to choose from in a card; those of a config stand in its TOML as they are."""
    for spec in fields_of(CardFields):
        if spec.path in _IN_WORDS:
            yield from ((choice, "choice") for choice in spec.choices)


def _of_rules() -> Iterator[tuple[str, str]]:
    for known in QUANTITIES.values():
        yield known.title, "quantity"
        yield known.unit, "unit"
    for family in written().families:
        yield family.title, "field"
        for rule in family.rules:
            yield rule.reason, "rule"


def _of_stages() -> Iterator[tuple[str, str]]:
    for stage in STAGES.values():
        yield stage.data_form, "stage"
        yield stage.converged, "stage"
