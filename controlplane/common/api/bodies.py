"""What a JSON body may hold: one meaning, and only text that the database can keep."""

import json
import math
import re
from collections.abc import Iterator
from itertools import islice
from typing import Any, NoReturn

from django.http import HttpRequest
from django.utils.translation import gettext as _
from ninja.parser import Parser

from controlplane.common.errors import Invalid, SafeholdError

DEEPEST = 64  # levels; the documents of configs and cards have five
_MOST_FAULTS = 100
_LONGEST_PATH = 200
_MOST_DIGITS = 20  # of the length of a body; more than some thousands are no number to Python
LARGEST_BYTES = 2 << 20  # a config document with room to spare; ingest has its own endpoint


class NotJson(SafeholdError):
    """The body is said to be something else: what a form of another site could send, for one."""

    code = "not-json-type"
    http_status = 415


def require_json_type(request: HttpRequest) -> None:
    """Pass where the body is not too large, and said to be JSON in UTF-8, or there is none.

    Without a token any other type is refused even with no body: a form of another site sends one.

    Raises:
        NotJson: It is said to be something else.
        SafeholdError: It says that it is too large; 413.
    """
    if _length(request) > LARGEST_BYTES:
        raise _too_large()
    given = request.headers.get("Content-Type", "")
    kind, _semicolon, rest = given.partition(";")
    if kind.strip().lower() == "application/json" and "charset" not in rest.lower():
        return
    if kind.strip().lower() == "application/json" and re.search(r"charset=\"?utf-?8\b", rest, re.I):
        return
    has_body = _length(request) > 0 or "Transfer-Encoding" in request.headers
    if not has_body and (not given or "Authorization" in request.headers):
        return
    raise NotJson(
        _("The body is said to be %(type)s.") % {"type": given[:100] or "?"},
        hint=_("Send JSON in UTF-8, with the header Content-Type: application/json."),
    )


def _too_large() -> SafeholdError:
    told = _("The body is larger than %(most)d bytes.") % {"most": LARGEST_BYTES}
    return SafeholdError(told, code="too-large", http_status=413)


def _length(request: HttpRequest) -> int:
    """Return how long the body is said to be.

    Raises:
        SafeholdError: It says so in more digits than any body needs; 400.
    """
    given = request.headers.get("Content-Length") or "0"
    if len(given) > _MOST_DIGITS:
        raise SafeholdError(_("Content-Length is no length of a body."), code="bad-request")
    return int(given) if given.isascii() and given.isdecimal() else 0


class StrictParser(Parser):
    """Refuses what the standard parser takes in silence: equal keys, NaN, NUL, half surrogates."""

    def parse_body(self, request: HttpRequest) -> dict[str, Any]:
        """Return the object.

        Raises:
            SafeholdError: The body is no single-minded JSON object; 400, 413 or 422.
        """
        if len(request.body) > LARGEST_BYTES:  # one that did not say how long it is
            raise _too_large()
        try:
            body = json.loads(
                request.body,
                object_pairs_hook=_single,
                parse_constant=_no_constant,
                parse_float=_finite,
            )
        except (ValueError, RecursionError) as error:
            told = _("The body is not JSON: %(error)s.") % {"error": error}
            raise SafeholdError(told, code="not-json") from error
        if not isinstance(body, dict):
            raise SafeholdError(_("The body is not a JSON object."), code="not-json")
        if bad := list(islice(_bad_values(body), _MOST_FAULTS)):
            raise Invalid(_("The body holds what cannot be kept."), fields=dict(bad))
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


def _finite(text: str) -> float:
    if math.isinf(number := float(text)):
        raise ValueError(f"{text[:20]} is larger than any number")
    return number


def _bad_values(body: Any) -> Iterator[tuple[str, list[str]]]:
    """Yield what cannot be kept, by path; without recursion, for a body may nest as deep as it likes."""
    left: list[tuple[Any, str, int]] = [(body, "", 0)]
    while left:
        value, path, depth = left.pop()
        if isinstance(value, str) and (words := _unkeepable(value)):
            yield path, [words]
        elif isinstance(value, dict | list) and depth >= DEEPEST:
            yield (
                path,
                [_("Nested deeper than %(most)d levels.") % {"most": DEEPEST}],
            )
        elif isinstance(value, dict):
            for name, item in value.items():
                if words := _unkeepable(name, is_name=True):
                    yield path or "body", [words]
                else:
                    below = f"{path}.{name}" if path else name
                    left.append((item, below[:_LONGEST_PATH], depth + 1))
        elif isinstance(value, list):
            left += [(item, f"{path}.{number}", depth + 1) for number, item in enumerate(value)]


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
