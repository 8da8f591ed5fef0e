"""What is wrong with the settings of the sign-in, told before the service starts."""

from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error, Warning, register

from controlplane.common.oidc import roles


@register()
def check_sign_in(app_configs: Any, **kwargs: Any) -> list[CheckMessage]:
    """Refuse rules that cannot be read, and a service that nobody could enter."""
    found: list[CheckMessage] = []
    try:
        roles.parse(settings.SAFEHOLD_OIDC_ROLES)
    except ValueError as error:
        found.append(Error(f"SAFEHOLD_OIDC_ROLES: {error}", id="safehold.E001"))
    if settings.SAFEHOLD_OIDC_ROLES and not settings.SAFEHOLD_OIDC_ISSUER:
        found.append(
            Warning("SAFEHOLD_OIDC_ROLES is set, SAFEHOLD_OIDC_ISSUER is not.", id="safehold.W001")
        )
    if not settings.SAFEHOLD_PASSWORD_SIGN_IN and not settings.SAFEHOLD_OIDC_ISSUER:
        found.append(
            Error(
                "Nobody could sign in: SAFEHOLD_PASSWORD_SIGN_IN is off and SAFEHOLD_OIDC_ISSUER is not set.",
                id="safehold.E002",
            )
        )
    return found
