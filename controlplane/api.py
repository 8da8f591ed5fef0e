"""The API root under /api/v1: who may call, how errors read, which routers there are."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.urls import URLPattern, path
from django.utils.translation import gettext as _
from ninja import Swagger

from checkpoints import api as checkpoints
from controlplane.common.api import audit, people, problems, projects, tokens
from controlplane.common.api.auth import PersonOrToken
from controlplane.common.api.bodies import StrictParser, require_json_type
from controlplane.common.api.openapi import DescribedApi
from controlplane.common.api.queries import refuse_unknown
from controlplane.common.errors import SafeholdError
from controlplane.search import api as search
from runs.api import cards, clusters, configs, rulebook, run_comparison, run_views, runs

View = Callable[..., HttpResponse]
_READING = {"GET", "HEAD", "OPTIONS"}

api = DescribedApi(
    title="Safehold",
    version="1",
    description="Lists are `{items, next}`; errors are RFC 9457 problem documents. See docs/reference/api.md.",
    urls_namespace="api",
    auth=PersonOrToken(),
    parser=StrictParser(),
    docs=Swagger(settings={"validatorUrl": None}),
)
problems.install(api)
api.add_router("cards", cards.router)
api.add_router("configs", configs.router)
api.add_router("preflights", configs.reports)
api.add_router("runs", runs.router)
api.add_router("comparison", run_comparison.router)
api.add_router("search", search.router)
api.add_router("views", run_views.router)
api.add_router("rulebook", rulebook.router)
api.add_router("clusters", clusters.router)
api.add_router("checkpoints", checkpoints.router)
api.add_router("me", people.me)
api.add_router("people", people.router)
api.add_router("projects", projects.router)
api.add_router("tokens", tokens.router)
api.add_router("audit", audit.router)


def urlpatterns() -> list[URLPattern]:
    """Return the routes of the API; it signs callers in itself, so the sign-in page is never answered."""
    patterns = [pattern for pattern in api.urls[0] if isinstance(pattern, URLPattern)]
    for pattern in patterns:
        if pattern.name != "openapi-view":  # the browsable docs are a page
            pattern.callback = _opened(_strict(pattern.callback, str(pattern.pattern)))
    return [*patterns, path("<path:rest>", _opened(problems.unknown_path))]


def _strict(view: View, route: str) -> View:
    """Refuse bodies of another type, and parameters that the operation does not know."""

    @wraps(view)
    def answer(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        try:
            if request.method not in _READING:
                require_json_type(request)
            refuse_unknown(request, api, route)
        except SafeholdError as error:
            return problems.answer(error)
        return view(request, *args, **kwargs)

    return answer


def _opened(view: View) -> View:
    @wraps(view)
    def answer(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        given = [text for name, values in request.GET.lists() for text in (name, *values)]
        if any("\0" in text for text in (*given, *map(str, kwargs.values()))):
            return problems.answer(SafeholdError(_("The address holds NUL."), code="bad-request"))
        response = view(request, *args, **kwargs)
        return (
            problems.not_allowed(request, response.get("Allow", ""))
            if response.status_code == 405
            else response
        )

    answer.login_required = False  # type: ignore[attr-defined]
    answer.csrf_exempt = True  # type: ignore[attr-defined]
    return answer
