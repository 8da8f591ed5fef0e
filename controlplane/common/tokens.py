"""Bearer tokens: made here, shown once, kept as a digest."""

import hashlib
import secrets
from datetime import datetime, timedelta

from django.utils import timezone

from controlplane.common.models import PersonalToken, Role, User

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
    *, user: User, name: str, max_role: Role = Role.ADMIN, expires_at: datetime | None = None
) -> tuple[PersonalToken, str]:
    """Make a personal token and return it with its secret, which can never be read again."""
    secret = new_secret(PERSONAL_PREFIX)
    token = PersonalToken.objects.create(
        user=user, name=name, hash=hash_token(secret), max_role=max_role, expires_at=expires_at
    )
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
