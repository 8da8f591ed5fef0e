"""What a JSON body may hold: one meaning, and only text that the database can keep."""

import json
from collections.abc import Iterator
from typing import Any, NoReturn

from django.http import HttpRequest
from django.utils.translation import gettext as _
from ninja.parser import Parser

from controlplane.common.errors import Invalid, SafeholdError

LARGEST_BYTES = 2 << 20  # a config document with room to spare; ingest has its own endpoint


class StrictParser(Parser):
    """Refuses what the standard parser takes in silence: equal keys, NaN, NUL, half surrogates."""

    def parse_body(self, request: HttpRequest) -> dict[str, Any]:
        """Return the object.

        Raises:
            SafeholdError: The body is no single-minded JSON object; 400, 413 or 422.
        """
        if int(request.headers.get("Content-Length") or 0) > LARGEST_BYTES:
            raise SafeholdError(
                _("The body is larger than %(most)d bytes.") % {"most": LARGEST_BYTES},
                code="too-large",
                http_status=413,
            )
        try:
            body = json.loads(request.body, object_pairs_hook=_single, parse_constant=_no_constant)
        except (ValueError, RecursionError) as error:
            told = _("The body is not JSON: %(error)s.") % {"error": error}
            raise SafeholdError(told, code="not-json") from error
        if not isinstance(body, dict):
            raise SafeholdError(_("The body is not a JSON object."), code="not-json")
        if bad := list(_bad_texts(body, "")):
            raise Invalid(_("The body holds text that cannot be kept."), fields=dict(bad))
        return body


def _single(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    table: dict[str, Any] = {}
    for key, value in pairs:
        if key in table:
            raise Invalid(
                _("The key %(key)r stands twice.") % {"key": key},
                fields={key: [_("It stands twice; keep one.")]},
            )
        table[key] = value
    return table


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _bad_texts(value: Any, path: str) -> Iterator[tuple[str, list[str]]]:
    if isinstance(value, str):
        if words := _unkeepable(value):
            yield path, [words]
    elif isinstance(value, dict):
        for name, item in value.items():
            if words := _unkeepable(name, is_name=True):
                yield path or "body", [words]
            else:
                yield from _bad_texts(item, f"{path}.{name}" if path else name)
    elif isinstance(value, list):
        for number, item in enumerate(value):
            yield from _bad_texts(item, f"{path}.{number}")


def _unkeepable(text: str, *, is_name: bool = False) -> str:
    if "\0" in text:
        return _("A name in it holds NUL.") if is_name else _("Holds NUL.")
    try:
        text.encode()
    except UnicodeEncodeError:
        return (
            _("A name in it holds half of a surrogate pair.")
            if is_name
            else _("Holds half of a surrogate pair.")
        )
    return ""
