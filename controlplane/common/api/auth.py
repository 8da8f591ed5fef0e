"""Who calls: a personal token, or the session of a page, which then needs its CSRF token."""

from typing import cast

from django.http import HttpRequest
from django.utils.translation import gettext as _
from ninja.security import HttpBearer
from ninja.utils import check_csrf

from controlplane.common import tokens
from controlplane.common.errors import Forbidden, SafeholdError
from controlplane.common.models import User

_SAFE = {"GET", "HEAD", "OPTIONS"}


class NotSignedIn(SafeholdError):
    """Nobody, or nobody that we know, calls."""

    code = "not-signed-in"
    http_status = 401


class PersonOrToken(HttpBearer):
    """Takes `Authorization: Bearer shp_…`; without that header the session of the browser."""

    def __call__(self, request: HttpRequest) -> User:  # noqa: D102
        header = request.headers.get("Authorization", "")
        if header:
            scheme, _space, secret = header.partition(" ")
            if scheme.lower() != "bearer":
                raise NotSignedIn(_("The Authorization header is not a bearer token."))
            return self.authenticate(request, secret.strip())
        if not request.user.is_authenticated:
            raise NotSignedIn(
                _("Send a personal token: Authorization: Bearer …"),
                hint=_("Make one in the settings."),
            )
        if request.method not in _SAFE and check_csrf(request) is not None:
            raise Forbidden(
                _("The CSRF token is missing or wrong."), code="csrf", hint=_("Reload the page.")
            )
        return request.user

    def authenticate(self, request: HttpRequest, token: str) -> User:
        """Return the person behind a token, who from here on is held to it.

        Raises:
            NotSignedIn: It is unknown, revoked or expired.
        """
        found = tokens.find_personal(token)
        if found is None:
            raise NotSignedIn(_("The token is unknown, revoked or expired."))
        user: User = found.user
        user.token = found
        request.user = user
        return user


def caller(request: HttpRequest) -> User:
    """Return the person who calls, after authentication."""
    return cast(User, request.user)
