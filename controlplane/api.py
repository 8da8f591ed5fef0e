"""The API root under /api/v1: who may call, how errors read, which routers there are."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.urls import URLPattern, path
from ninja import NinjaAPI, Swagger

from checkpoints import api as checkpoints
from controlplane.common.access import projects_of, role_of
from controlplane.common.api import problems
from controlplane.common.api.auth import PersonOrToken, caller
from controlplane.common.api.bodies import StrictParser
from controlplane.common.errors import SafeholdError
from runs.api import cards, clusters, configs, run_comparison, runs

View = Callable[..., HttpResponse]

api = NinjaAPI(
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
api.add_router("clusters", clusters.router)
api.add_router("checkpoints", checkpoints.router)


@api.get("/me", response=dict[str, Any], tags=["people"], summary="Who am I")
def me(request: HttpRequest) -> Any:
    """Return the person behind the token or session, with the projects and the role in each."""
    user = caller(request)
    projects = [
        {"slug": one.slug, "name": one.name, "role": _role(user, one.pk)}
        for one in projects_of(user)
    ]
    return {"id": user.pk, "username": user.username, "projects": projects}


def urlpatterns() -> list[URLPattern]:
    """Return the routes of the API; it signs callers in itself, so the sign-in page is never answered."""
    patterns = [pattern for pattern in api.urls[0] if isinstance(pattern, URLPattern)]
    for pattern in patterns:
        if pattern.name != "openapi-view":  # the browsable docs are a page
            pattern.callback = _opened(pattern.callback)
    return [*patterns, path("<path:rest>", _opened(problems.unknown_path))]


def _opened(view: View) -> View:
    @wraps(view)
    def answer(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if any("\0" in text for values in request.GET.lists() for text in (values[0], *values[1])):
            return problems.answer(SafeholdError("The address holds NUL.", code="bad-request"))
        response = view(request, *args, **kwargs)
        return (
            problems.not_allowed(request, response.get("Allow", ""))
            if response.status_code == 405
            else response
        )

    answer.login_required = False  # type: ignore[attr-defined]
    answer.csrf_exempt = True  # type: ignore[attr-defined]
    return answer


def _role(user: Any, project_id: int) -> str | None:
    role = role_of(user, project_id)
    return role.name.lower() if role else None
