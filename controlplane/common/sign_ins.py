"""Sign-ins of browsers: noted so that a person can list and end them; each ends after its time."""

import time
from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from django.conf import settings
from django.contrib.auth import update_session_auth_hash
from django.contrib.auth.middleware import LoginRequiredMiddleware
from django.contrib.auth.models import AnonymousUser
from django.contrib.auth.signals import user_logged_in, user_logged_out
from django.contrib.auth.views import redirect_to_login
from django.contrib.sessions.models import Session
from django.core.exceptions import ValidationError
from django.core.validators import validate_ipv46_address
from django.dispatch import receiver
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.utils import timezone

from controlplane.common.models import SignIn, User

# A header by which scripts know that the session has ended, not something else.
SIGNED_OUT = "X-Signed-Out"
BEGAN_AT, SEEN_AT = "began_at", "seen_at"
# A page asks every second; when somebody was last seen is noted this seldom, which also renews the session.
_NOTED_EVERY_SECONDS = 60


@receiver(user_logged_in)
def _begin(sender: object, request: HttpRequest, user: User, **kwargs: Any) -> None:
    """Note a new sign-in of a browser."""
    now = time.time()
    request.session[BEGAN_AT] = request.session[SEEN_AT] = now
    if request.session.session_key is None:  # of whoever was signed in here before nothing is left
        request.session.save()
    SignIn.objects.filter(user=user, seen_at__lt=timezone.now() - _longest()).delete()
    SignIn.objects.update_or_create(
        session_key=request.session.session_key,
        defaults={
            "user": user, "began_at": timezone.now(), "seen_at": timezone.now(), "address": address_of(request),
            "browser": request.META.get("HTTP_USER_AGENT", "")[:300].replace("\0", ""),
        },
    )  # fmt: skip


@receiver(user_logged_out)
def _end(sender: object, request: HttpRequest, **kwargs: Any) -> None:
    SignIn.objects.filter(session_key=request.session.session_key).delete()


def keep_session(request: HttpRequest, user: User) -> None:
    """Keep this browser signed in after its person has changed the password."""
    old = request.session.session_key
    update_session_auth_hash(request, user)
    SignIn.objects.filter(session_key=old).update(session_key=request.session.session_key)


class SignIns:
    """Ends a sign-in that has lasted too long, and notes once a minute that one is in use."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Look at the session before and after; a request without one costs nothing."""
        if settings.SESSION_COOKIE_NAME not in request.COOKIES:
            return self.get_response(request)
        now = time.time()
        if now - request.session.get(BEGAN_AT, now) > settings.SAFEHOLD_SESSION_LONGEST_SECONDS:
            SignIn.objects.filter(session_key=request.session.session_key).delete()
            request.session.flush()
            request.user = AnonymousUser()
        elif now - request.session.get(SEEN_AT, now) > _NOTED_EVERY_SECONDS:
            SignIn.objects.filter(session_key=request.session.session_key).update(
                seen_at=timezone.now()
            )
            request.session[SEEN_AT] = now
        return self.get_response(request)


def person_of(scope: Mapping[str, Any]) -> User | None:
    """Return the person of an open socket as the database knows them now; None once they are signed out."""
    session = scope.get("session")
    if session is not None:
        began_at = session.get(BEGAN_AT, time.time())
        is_too_old = time.time() - began_at > settings.SAFEHOLD_SESSION_LONGEST_SECONDS
        known = Session.objects.filter(
            session_key=session.session_key, expire_date__gt=timezone.now()
        )
        if is_too_old or not known.exists():
            return None
    return User.objects.filter(pk=scope["user"].pk, is_active=True).first()


class SignInRequired(LoginRequiredMiddleware):
    """Sends strangers to the sign-in page; a part of an open page is told instead, so that nothing typed is lost."""

    def handle_no_permission(  # type: ignore[override]  # the stubs know only a redirect
        self, request: HttpRequest, view_func: Callable[..., HttpResponseBase]
    ) -> HttpResponse:
        """Answer a stranger."""
        if request.headers.get("HX-Request"):
            return HttpResponse(status=401, headers={SIGNED_OUT: "1"})
        if request.method in {"GET", "HEAD"}:
            return super().handle_no_permission(request, view_func)
        # What was sent cannot be sent again by a redirect: lead back to the page that the form stood on.
        return redirect_to_login(_page_of_form(request), login_url=self.get_login_url(view_func))


def _page_of_form(request: HttpRequest) -> str:
    came_from = urlsplit(request.headers.get("Referer", ""))
    is_ours = came_from.netloc == request.get_host()
    return (
        urlunsplit(("", "", came_from.path, came_from.query, ""))
        if is_ours and came_from.path
        else "/"
    )


def address_of(request: HttpRequest) -> str | None:
    """Return where the request came from, as the web server was told by a proxy that it trusts."""
    address = request.META.get("REMOTE_ADDR", "")
    try:
        validate_ipv46_address(address)
    except ValidationError:  # a socket has none
        return None
    return str(address)


def _longest() -> timedelta:
    return timedelta(seconds=settings.SAFEHOLD_SESSION_LONGEST_SECONDS)
