"""What a run may be called: names, groups and tags, as people type them. Pure."""

import unicodedata
from collections.abc import Iterable

from django.utils.translation import gettext as _

from controlplane.common.errors import Invalid

NAME_LENGTH = 120  # of groups and saved views
RUN_NAME_LENGTH = 200
TAG_LENGTH = 40
MOST_TAGS = 20


def cleaned_run_name(text: str) -> str:
    """Return the name of a run; see `cleaned_name`."""
    return cleaned_name(text, most=RUN_NAME_LENGTH)


def cleaned_name(text: str, field: str = "name", most: int = NAME_LENGTH) -> str:
    """Return a name of one line.

    Raises:
        Invalid: It holds a line break or another control character, or is too long.
    """
    name = text.strip()
    if any(unicodedata.category(mark) in {"Cc", "Zl", "Zp"} for mark in name):
        raise _invalid(
            field, _("It is one line of text, without line breaks or control characters.")
        )
    if len(name) > most:
        raise _invalid(field, _("It has at most %(most)s characters.") % {"most": most})
    return name


def cleaned_tags(texts: Iterable[str]) -> list[str]:
    """Return tags, each once, in their order.

    Raises:
        Invalid: One holds a space or a comma, or is too long; or there are too many.
    """
    tags = list(dict.fromkeys(tag for text in texts if (tag := text.strip().removeprefix("#"))))
    for tag in tags:
        if (
            len(tag) > TAG_LENGTH
            or not all(mark.isprintable() for mark in tag)
            or set(tag) & set(" ,")
        ):
            raise _invalid(
                "tags",
                _("%(tag)s is no tag: one word of at most %(most)s characters, no comma.")
                % {"tag": repr(tag), "most": TAG_LENGTH},
            )
    if len(tags) > MOST_TAGS:
        raise _invalid("tags", _("A run has at most %(most)s tags.") % {"most": MOST_TAGS})
    return tags


def split_tags(text: str) -> list[str]:
    """Return the tags of one line, as a form has them: separated by commas or spaces."""
    return text.replace(",", " ").split()


def _invalid(field: str, words: str) -> Invalid:
    return Invalid(words, fields={field: [words]})
