"""What allauth asks of us: who may come in, what becomes of them, how a failure reads."""

import logging
from typing import Any

from allauth.account.adapter import DefaultAccountAdapter
from allauth.core.exceptions import ImmediateHttpResponse
from allauth.socialaccount.adapter import DefaultSocialAccountAdapter
from allauth.socialaccount.models import SocialLogin
from allauth.socialaccount.providers.openid_connect.views import OpenIDConnectOAuth2Adapter
from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext as _

from controlplane.common import audit
from controlplane.common.models import User
from controlplane.common.oidc import roles
from controlplane.common.services import groups

logger = logging.getLogger(__name__)
PROVIDER_ID = "oidc"


class Provider(OpenIDConnectOAuth2Adapter):  # type: ignore[misc]
    """The provider that the settings name. Its identity token is always held against its keys."""

    def __init__(self, request: HttpRequest, provider_id: str = PROVIDER_ID) -> None:
        super().__init__(request, provider_id)

    def get_callback_url(self, request: HttpRequest, app: object) -> str:  # noqa: D102
        return f"{settings.SAFEHOLD_PUBLIC_URL}{reverse('oidc_callback')}"

    def get_access_token_data(self, *args: Any, **kwargs: Any) -> Any:
        """Fetch the tokens. The library would trust the connection alone; here the signature counts as well."""
        data = super().get_access_token_data(*args, **kwargs)
        self.did_fetch_access_token = False
        if not data.get("id_token"):
            raise ImmediateHttpResponse(refusal(self.request, "no identity token"))
        return data


class AccountAdapter(DefaultAccountAdapter):  # type: ignore[misc]
    """No page of the library is ours: it tells nothing and makes no account by a form."""

    def is_open_for_signup(self, request: HttpRequest) -> bool:  # noqa: D102
        return False

    def add_message(self, *args: Any, **kwargs: Any) -> None:  # noqa: D102
        return None

    def respond_user_inactive(self, request: HttpRequest, user: User) -> Any:  # noqa: D102
        messages.error(
            request, _("Your account here is closed. Ask an administrator of the service.")
        )
        return redirect("sign_in")

    def login(self, request: HttpRequest, user: User) -> None:
        """Sign in, and keep that in the audit trail."""
        super().login(request, user)
        audit.record(
            actor=user, action="person.sign_in", object=user, data={"by": "openid connect"}
        )


class SocialAdapter(DefaultSocialAccountAdapter):  # type: ignore[misc]
    """Everybody whom the provider lets in has an account; what they may do follows their groups."""

    def is_open_for_signup(self, request: HttpRequest, sociallogin: SocialLogin) -> bool:  # noqa: D102
        return True

    def is_auto_signup_allowed(self, request: HttpRequest, sociallogin: SocialLogin) -> bool:  # noqa: D102
        return True

    def pre_social_login(self, request: HttpRequest, sociallogin: SocialLogin) -> None:
        """Bring the roles of somebody known in step before the session begins."""
        if sociallogin.is_existing:
            _follow(sociallogin)

    def save_user(self, request: HttpRequest, sociallogin: SocialLogin, form: Any = None) -> Any:
        """Make the account of somebody new, with the roles of the groups."""
        made = super().save_user(request, sociallogin, form)
        audit.record(
            actor=None,
            action="person.create",
            object=made,
            data={"name": made.username, "by": "openid connect"},
        )
        _follow(sociallogin)
        return made

    def on_authentication_error(self, request: HttpRequest, provider: Any, **told: Any) -> None:
        """Lead back to the sign-in page with a sentence; the log has the cause."""
        raise ImmediateHttpResponse(refusal(request, told.get("exception") or told.get("error")))


def refusal(request: HttpRequest, cause: object) -> HttpResponse:
    """Lead back to the sign-in page, which says that it did not work."""
    logger.warning("oidc.refused", extra={"cause": str(cause)})
    told = _(
        "Signing in with %(name)s did not work. Try again, or ask an administrator of the service."
    )
    messages.error(request, told % {"name": settings.SAFEHOLD_OIDC_NAME})
    return redirect("sign_in")


def _follow(sociallogin: SocialLogin) -> None:
    claims: dict[str, Any] = sociallogin.account.extra_data
    rules = roles.parse(settings.SAFEHOLD_OIDC_ROLES)
    found = [
        group
        for part in (claims.get("userinfo") or {}, claims.get("id_token") or {})
        for group in roles.groups_in(part, settings.SAFEHOLD_OIDC_GROUPS_CLAIM)
    ]
    groups.follow_groups(
        person=sociallogin.user,
        grants=roles.granted(found, rules),
        administers=any(rule.role is None for rule in rules),
    )
