"""A parameter that an operation does not know is a mistake, never passed over: a misspelt filter would list everything."""

import re
from collections.abc import Mapping
from functools import cache

from django.http import HttpRequest
from django.utils.translation import gettext as _
from ninja import NinjaAPI

from controlplane.common.errors import Invalid

Known = Mapping[tuple[str, str], frozenset[str]]
_PLACE = re.compile(r"<(?:\w+:)?(\w+)>")


def refuse_unknown(request: HttpRequest, api: NinjaAPI, route: str) -> None:
    """Pass, or raise.

    Args:
        request: To an operation of the API.
        api: Whose document says what is known.
        route: Pattern of the path, as Django has it.

    Raises:
        Invalid: The address has a parameter that the operation does not take.
    """
    known = known_parameters(api).get((_PLACE.sub(r"{\1}", route), request.method or ""))
    if known is None:
        return
    if unknown := [name for name in request.GET if name not in known]:
        choices = ", ".join(sorted(known)) or _("none")
        told = _("There is no such parameter; known: %(choices)s.") % {"choices": choices}
        raise Invalid(
            _("There is no parameter %(name)r.") % {"name": unknown[0]},
            fields={name: [told] for name in unknown},
        )


@cache
def known_parameters(api: NinjaAPI) -> Known:
    """Return the names of the query parameters by path and method."""
    paths = api.get_openapi_schema(path_prefix="")["paths"]
    return {
        (path.strip("/"), method.upper()): frozenset(
            one["name"] for one in operation.get("parameters", []) if one["in"] == "query"
        )
        for path, methods in paths.items()
        for method, operation in methods.items()
    }
