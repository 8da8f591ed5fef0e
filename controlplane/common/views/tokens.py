"""Your tokens: made here, shown once, revoked."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

from controlplane.common import access
from controlplane.common.api import caller
from controlplane.common.errors import Invalid
from controlplane.common.forms.settings import EXPIRIES, TokenForm
from controlplane.common.models import PersonalToken, Scope
from controlplane.common.services import tokens

PAGE_SIZE = 50


@require_http_methods(["GET", "POST"])
def token_list(request: HttpRequest) -> HttpResponse:
    projects = access.projects_of(caller(request))
    if request.method == "GET":
        return _page(
            request, TokenForm(projects=projects, initial={"days": 90, "scopes": [Scope.READ]})
        )
    form = TokenForm(request.POST, projects=projects)
    if form.is_valid():
        try:
            token, secret = tokens.create_token(user=caller(request), **form.wanted())
        except Invalid as error:
            form.refuse(error)
        else:
            # Not redirected: the secret would have to be kept for that.
            fresh = TokenForm(projects=projects, initial={"days": 90, "scopes": [Scope.READ]})
            return _page(request, fresh, made=token, secret=secret, status=201)
    return _page(request, form, status=422)


@require_POST
def revoke(request: HttpRequest, token_id: int) -> HttpResponse:
    token = tokens.revoke_token(user=caller(request), token_id=token_id)
    messages.success(request, _("Token %(name)s is revoked.") % {"name": token.name})
    return redirect("settings:tokens")


def _page(
    request: HttpRequest,
    form: TokenForm,
    *,
    made: PersonalToken | None = None,
    secret: str = "",
    status: int = 200,
) -> HttpResponse:
    cursor = request.GET.get("cursor", "")
    found = PersonalToken.objects.filter(user=caller(request)).select_related("project")
    if cursor.isdecimal() and len(cursor) < 19:
        found = found.filter(pk__lt=int(cursor))
    rows = list(found[: PAGE_SIZE + 1])
    context = {
        "section": "tokens", "form": form, "tokens": rows[:PAGE_SIZE], "made": made, "secret": secret,
        "scopes": Scope.choices, "chosen": form["scopes"].value() or [], "expiries": EXPIRIES,
        "days": str(form["days"].value() or 0),
        "next_cursor": str(rows[PAGE_SIZE - 1].pk) if len(rows) > PAGE_SIZE else "",
    }  # fmt: skip
    response = render(request, "settings/tokens.html", context, status=status)
    response["Cache-Control"] = "no-store"
    return response
