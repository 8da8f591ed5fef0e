"""Sign-in, the way home and the error pages."""

from typing import Any

from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.forms import AuthenticationForm
from django.contrib.auth.views import LoginView, LogoutView
from django.core.exceptions import DisallowedHost
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from controlplane.common import audit
from controlplane.common.api import problems
from controlplane.common.logs import request_id

_LONGEST_HOST = 253  # RFC 1035, 2.3.4; a client may send anything


class SignIn(LoginView):
    template_name = "registration/sign_in.html"
    redirect_authenticated_user = True

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if not settings.SAFEHOLD_PASSWORD_SIGN_IN:
            return self.render_to_response(self.get_context_data(), status=403)
        return super().post(request, *args, **kwargs)

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        return super().get_context_data(**kwargs) | _ways()

    def form_valid(self, form: AuthenticationForm) -> HttpResponse:
        answer = super().form_valid(form)
        user = form.get_user()
        audit.record(actor=user, action="person.sign_in", object=user, data={"by": "password"})
        return answer


class SignOut(LogoutView):
    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        user = request.user
        if user.is_authenticated:
            audit.record(actor=user, action="person.sign_out", object=user)
        return super().post(request, *args, **kwargs)


@login_not_required
def locked_out(
    request: HttpRequest, response: HttpResponse | None = None, *args: Any
) -> HttpResponse:
    """Answer somebody who guessed too often."""
    seconds = int(settings.AXES_COOLOFF_TIME.total_seconds())
    context = {"wait_minutes": max(1, round(seconds / 60)), **_ways()}
    headers = {"Retry-After": str(seconds)}
    return HttpResponse(
        render(request, "registration/sign_in.html", context).content, status=429, headers=headers
    )


def session(request: HttpRequest) -> HttpResponse:
    """Answer a page that asks whether its person is still signed in; a stranger gets 401 or the sign-in page."""
    return HttpResponse(status=204)


def signed_in_again(request: HttpRequest) -> HttpResponse:
    """Say in the second tab that the first one can go on."""
    return render(request, "registration/signed_in_again.html")


def home(request: HttpRequest) -> HttpResponse:
    return redirect("runs:run_list")


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    is_elsewhere = isinstance(exception, DisallowedHost)
    host = request.META.get("HTTP_HOST", "")[:_LONGEST_HOST] if is_elsewhere else ""
    if request.path.startswith("/api/"):
        return problems.refused_at_the_door(exception, host)
    return render(request, "400.html", {"host": host}, status=400)


def forbidden(request: HttpRequest, exception: Exception) -> HttpResponse:
    return render(request, "403.html", status=403)


def csrf_refused(request: HttpRequest, reason: str = "") -> HttpResponse:
    return render(request, "403.html", status=403)


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    return render(request, "404.html", status=404)


def server_error(request: HttpRequest) -> HttpResponse:
    # Nothing here may need the database or the session: either may be what broke.
    if request.path.startswith("/api/"):
        return problems.broken()
    return render(None, "500.html", {"request_id": request_id.get()}, status=500)


def _ways() -> dict[str, Any]:
    return {
        "takes_passwords": settings.SAFEHOLD_PASSWORD_SIGN_IN,
        "provider": settings.SAFEHOLD_OIDC_NAME if settings.SAFEHOLD_OIDC_ISSUER else "",
    }
