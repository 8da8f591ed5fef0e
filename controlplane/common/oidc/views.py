"""The two addresses of the sign-in: to the provider, and back from it."""

from allauth.socialaccount.providers.oauth2.views import OAuth2CallbackView
from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_GET, require_POST
from requests import RequestException

from controlplane.common.oidc.adapters import Provider, refusal


@login_not_required
@require_POST
def begin(request: HttpRequest) -> HttpResponse:
    _require_configured()
    provider = Provider(request).get_provider()
    provider.oauth2_adapter_class = Provider
    wanted = request.POST.get("next", "")
    is_ours = url_has_allowed_host_and_scheme(wanted, {request.get_host()}, request.is_secure())
    try:
        answer: HttpResponse = provider.redirect(
            request, process="login", next_url=wanted if is_ours else reverse("home")
        )
    except (RequestException, KeyError, ValueError) as error:
        return refusal(request, error)
    return _leading_on(request, answer["Location"]) if "Location" in answer else answer


@login_not_required
@require_GET
def callback(request: HttpRequest) -> HttpResponse:
    _require_configured()
    try:
        answer: HttpResponse = OAuth2CallbackView.adapter_view(Provider(request))(request)
    except (
        KeyError,
        TypeError,
        ValueError,
    ) as error:  # it left something out that the library counts on
        return refusal(request, error)
    return answer


def _leading_on(request: HttpRequest, address: str) -> HttpResponse:
    """Lead to the provider by a page of ours: the content policy lets a form end on this origin only, redirects counted."""
    context = {"address": address, "provider": settings.SAFEHOLD_OIDC_NAME}
    answer = render(request, "registration/leading_on.html", context)
    answer["Refresh"] = f"0; url={address}"
    answer["Cache-Control"] = "no-store"
    return answer


def _require_configured() -> None:
    if not settings.SAFEHOLD_OIDC_ISSUER:
        raise Http404
