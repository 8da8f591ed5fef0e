"""Bring the translations' catalogue up to date with the texts in code and templates, and compile it."""

import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils.translation.template import templatize

from controlplane.common.fixed_texts import fixed_texts

PACKAGES = ("controlplane", "runs", "checkpoints", "workers")
KEYWORDS: dict[str, Any] = {
    "_": None,
    "gettext": None,
    "gettext_lazy": None,
    "gettext_noop": None,
    "ngettext": (1, 2),
    "ngettext_lazy": (1, 2),
    "pgettext": ((1, "c"), 2),
    "pgettext_lazy": ((1, "c"), 2),
    "npgettext": ((1, "c"), 2, 3),
}
LOCALE = "zh_Hans"


class Command(BaseCommand):
    """`manage.py catalogue [--check]`."""

    requires_system_checks = ()
    help = "Collect the texts, keep their translations, compile them; --check only says what is missing."

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the one option."""
        parser.add_argument("--check", action="store_true", help="change nothing; fail if stale")

    def handle(self, *args: object, check: bool = False, **options: object) -> None:
        """Update or check the catalogue."""
        from babel.messages.mofile import write_mo
        from babel.messages.pofile import write_po

        catalog = brought_up_to_date()
        faults = [f"no translation: {message!r}" for message in untranslated(catalog)]
        po, mo = io.BytesIO(), io.BytesIO()
        write_po(po, catalog, no_location=True, sort_output=True, omit_header=False, width=100)
        write_mo(mo, catalog)
        for path, made in ((po_path(), po), (po_path().with_suffix(".mo"), mo)):
            if check and (not path.exists() or path.read_bytes() != made.getvalue()):
                faults.append(f"stale: {path.name}; run manage.py catalogue")
            if not check:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(made.getvalue())
        for fault in faults:
            self.stdout.write(fault)
        if check and faults:
            raise CommandError(f"{len(faults)} faults in the catalogue of {LOCALE}.")


def po_path() -> Path:
    """Return where the translations stand."""
    return Path(settings.LOCALE_PATHS[0]) / LOCALE / "LC_MESSAGES" / "django.po"


def brought_up_to_date() -> Any:
    """Return the stored catalogue with just the texts that there are now (a Babel `Catalog`)."""
    from babel.messages.catalog import Catalog
    from babel.messages.pofile import read_po

    if po_path().exists():
        with po_path().open("rb") as file:
            stored = read_po(file, locale=LOCALE)
    else:
        stored = Catalog(locale=LOCALE)
    fresh = Catalog(
        locale=LOCALE, project="Safehold", header_comment="# Simplified Chinese.", fuzzy=False
    )
    fresh.creation_date = stored.creation_date
    fresh.revision_date = stored.creation_date
    for message, context in texts():
        known = stored.get(message[0] if isinstance(message, tuple) else message, context)
        fresh.add(message, known.string if known else None, context=context)
    return fresh


def texts() -> Iterator[tuple[str | tuple[str, str], str | None]]:
    """Yield each text that is to be translated (a pair where there is a plural) and its context."""
    root = Path(settings.BASE_DIR)
    for path in sorted((root / "templates").rglob("*.html")):
        source = templatize(path.read_text(), origin=str(path))
        # What is left of a template is indented as it likes; it is only read for its calls.
        yield from _calls("\n".join(line.lstrip() for line in source.splitlines()))
    for package in PACKAGES:
        for path in sorted((root / package).rglob("*.py")):
            yield from _calls(path.read_text())
    for text, context in fixed_texts():
        # As `translate` looks up the value of a variable.
        yield text.replace("%", "%%"), context


def untranslated(catalog: Any) -> list[str]:
    """Return the texts whose translation is empty or fuzzy, or has other placeholders."""
    missing = []
    for message in catalog:
        if not message.id:
            continue
        strings = message.string if isinstance(message.string, tuple) else (message.string,)
        if message.fuzzy or not all(strings) or any(message.check(catalog)):
            missing.append(message.id if isinstance(message.id, str) else message.id[0])
    return missing


def _calls(source: str) -> Iterator[tuple[str | tuple[str, str], str | None]]:
    from babel.messages.extract import extract

    found = extract("python", io.BytesIO(source.encode()), KEYWORDS, options={"encoding": "utf-8"})
    for _, message, _, context in found:
        if message:
            yield (message if isinstance(message, str) else (message[0], message[1])), context
