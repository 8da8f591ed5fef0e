"""Every error of the API is an RFC 9457 problem document."""

import logging
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from django.db import IntegrityError
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.utils.translation import gettext as _
from ninja import NinjaAPI
from ninja.errors import HttpError, ValidationError

from controlplane.common.errors import Conflict, Invalid, NotFound, SafeholdError

logger = logging.getLogger(__name__)
_UNIQUE_VIOLATION = "23505"
# ninja says where a parameter stood; a field path begins behind that.
_LONGEST_PART = 200  # a name that a client made up can be of any length
_PLACES = {"body", "query", "path", "header", "cookie", "form", "file"}


def answer(error: SafeholdError) -> HttpResponse:
    """Return the problem document of an expected failure."""
    response = JsonResponse(
        error.problem(), status=error.http_status, content_type="application/problem+json"
    )
    if error.http_status == 401:
        response["WWW-Authenticate"] = "Bearer"
    return response


def refused_at_the_door(error: Exception, host: str = "") -> HttpResponse:
    """Answer a request that came to no operation; `host`: the name that it was sent to, which is none of ours."""
    if host:
        told = _("Safehold does not answer under the name %(host)s here.") % {"host": host}
        hint = _("Use its public address, or add the name to SAFEHOLD_ALLOWED_HOSTS.")
        return answer(SafeholdError(told, code="unknown-host", hint=hint))
    why = str(error)[:300]
    return answer(SafeholdError(_("The request cannot be taken: %(why)s") % {"why": why}, code="bad-request"))  # fmt: skip


def broken() -> HttpResponse:
    """Answer for what broke outside of the operations."""
    return answer(_broken())


def unknown_path(request: HttpRequest, **kwargs: Any) -> HttpResponse:
    """Answer a path that no router has."""
    return answer(NotFound(_("There is no %(path)s.") % {"path": request.path}))


def not_allowed(request: HttpRequest, allow: str) -> HttpResponse:
    """Answer a method that a path does not take."""
    error = SafeholdError(
        _("%(path)s does not take %(method)s.") % {"path": request.path, "method": request.method},
        code="method-not-allowed",
        http_status=405,
    )
    response = answer(error)
    if allow:
        response["Allow"] = allow
    return response


def install(api: NinjaAPI) -> None:
    """Have the API answer its errors so."""
    readers: dict[type[Exception], Callable[[HttpRequest, Any], SafeholdError]] = {
        SafeholdError: lambda request, error: error,
        ValidationError: lambda request, error: _invalid(error),
        HttpError: lambda request, error: _http(error),
        Http404: lambda request, error: NotFound(_("There is no such object.")),
        IntegrityError: _collision,
        Exception: _unexpected,
    }
    for kind, read in readers.items():
        api.add_exception_handler(kind, partial(_answer, read))


def _answer(
    read: Callable[[HttpRequest, Any], SafeholdError], request: HttpRequest, error: Any
) -> HttpResponse:
    return answer(read(request, error))


def _invalid(error: ValidationError) -> SafeholdError:
    fields: dict[str, list[str]] = {}
    for one in error.errors:
        fields.setdefault(_path(one["loc"]), []).append(_words(one))
    first = next(iter(fields), "")
    where, fault = first or _("The request"), fields[first][0] if fields else _("not valid.")
    return Invalid(f"{where}: {fault}", fields=fields)


def _path(place: tuple[str | int, ...]) -> str:
    parts = [str(part) for part in place]
    if parts and parts[0] in _PLACES:
        parts = parts[1:]
    # The body of an operation is one parameter, whose name the client does not know.
    if parts and parts[0] in {"body", "filters"} and len(parts) > 1:
        parts = parts[1:]
    return ".".join(part[:_LONGEST_PART] or '""' for part in parts)


def _words(one: Mapping[str, Any]) -> str:
    known = {"missing": _("It is missing."), "extra_forbidden": _("There is no such field.")}
    return known.get(str(one.get("type"))) or f"{str(one['msg']).removeprefix('Value error, ')}."


def _http(error: HttpError) -> SafeholdError:
    if isinstance(error.__cause__, SafeholdError):  # ninja wraps what a parser raises
        return error.__cause__
    return SafeholdError(str(error), http_status=error.status_code, code="bad-request")


def _collision(request: HttpRequest, error: IntegrityError) -> SafeholdError:
    """Tell of two requests at the same moment that only one can have; any other broken rule is a fault of ours."""
    if getattr(error.__cause__, "sqlstate", "") != _UNIQUE_VIOLATION:
        return _unexpected(request, error)
    return Conflict(
        _("Somebody made the same at the same moment."), hint=_("Look at it, then try again.")
    )


def _unexpected(request: HttpRequest, error: Exception) -> SafeholdError:
    logger.error(
        "api.unexpected_error",
        exc_info=error,
        extra={"path": request.path, "method": request.method},
    )
    return _broken()


def _broken() -> SafeholdError:
    return SafeholdError(
        _("Something in the service broke; its log has the cause."),
        code="internal",
        http_status=500,
    )
