"""Bearer tokens: made here, shown once, kept as a digest."""

import hashlib
import secrets
from collections.abc import Collection
from datetime import datetime, timedelta

from django.utils import timezone

from controlplane.common.models import PersonalToken, Project, User
from controlplane.common.models.token import every_scope

PERSONAL_PREFIX = "shp_"
ATTEMPT_PREFIX = "sha_"
# `last_used_at` is a hint for people; writing it at most this often keeps reads from becoming writes.
_TOUCH = timedelta(minutes=1)


def new_secret(prefix: str) -> str:
    """Return a fresh token with 256 random bits; the prefix lets scanners recognise a leak."""
    return prefix + secrets.token_urlsafe(32)


def hash_token(token: str) -> str:
    """Return what is stored: SHA-256, enough for a secret of full entropy."""
    return hashlib.sha256(token.encode()).hexdigest()


def issue_personal(
    *,
    user: User,
    name: str,
    scopes: Collection[str] | None = None,
    project: Project | None = None,
    expires_at: datetime | None = None,
) -> tuple[PersonalToken, str]:
    """Make a personal token and return it with its secret, which can never be read again.

    Args:
        user: In whose name it acts.
        name: What people call it.
        scopes: Values of `Scope`; all when left out.
        project: The only one that it sees; all of the person's when left out.
        expires_at: When it ends; never when left out.
    """
    secret = new_secret(PERSONAL_PREFIX)
    token = PersonalToken.objects.create(
        user=user, name=name, hash=hash_token(secret), project=project, expires_at=expires_at,
        scopes=[one for one in every_scope() if scopes is None or one in scopes],
    )  # fmt: skip
    return token, secret


def find_personal(secret: str) -> PersonalToken | None:
    """Return the live token with this secret and note its use, or None."""
    token = (
        PersonalToken.objects.select_related("user")
        .filter(hash=hash_token(secret), user__is_active=True)
        .first()
    )
    if token is None or not token.is_live:
        return None
    now = timezone.now()
    if token.last_used_at is None or now - token.last_used_at > _TOUCH:
        token.last_used_at = now
        token.save(update_fields=["last_used_at"])
    return token
