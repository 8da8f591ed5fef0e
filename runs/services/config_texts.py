"""The text that a config was written as: comments and order are no part of its document, and still not lost."""

from contextlib import suppress

from runs.models import Config, ConfigText
from safehold.config import (
    ConfigInvalid,
    Format,
    canonical_document,
    config_hash,
    parse,
    read_document,
    to_toml,
)

FORMS: tuple[Format, ...] = ("toml", "json", "yaml")


def keep(*, config: Config, text: str | bytes) -> None:
    """Keep the text of a config that was just made, where it says more than the document does."""
    plain = text.decode("utf-8-sig") if isinstance(text, bytes) else text.removeprefix("\ufeff")
    plain = plain.replace("\r\n", "\n")
    if plain.strip() and plain.strip() != to_toml(config.document).strip():
        ConfigText.objects.create(config=config, text=plain)


def written_of(config: Config) -> str:
    """Return the text that a config was written as; empty where its document says all."""
    found = ConfigText.objects.filter(config=config).values_list("text", flat=True).first()
    return found or ""


def form_of(written: str) -> Format:
    """Return the form of a text that was read once; the narrowest one, for JSON is YAML too."""
    for form in FORMS[:-1]:
        with suppress(ConfigInvalid):
            read_document(written, form)
            return form
    return FORMS[-1]


def text_of(config: Config) -> str:
    """Return TOML of the document: as it was written where that still says the same, else in the order of the schema."""
    written = written_of(config)
    return written if written and _is_same(written, config) else to_toml(config.document)


def _is_same(written: str, config: Config) -> bool:
    """Whether TOML says today what the stored document says; defaults may have changed since."""
    try:
        read = canonical_document(parse(read_document(written)[0]))
    except ConfigInvalid:
        return False
    return config_hash(read) == config.hash
