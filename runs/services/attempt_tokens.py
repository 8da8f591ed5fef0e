"""The token of an attempt: derived, so that a submit repeated after a crash gives the pod the same one.

Kept are its hash and a salt; the token itself follows from the salt and the secret key of the service, so
neither a copy of the database nor the key alone gives it.
"""

import secrets

from django.db import transaction
from django.utils import timezone
from django.utils.crypto import salted_hmac

from controlplane.common import tokens
from runs.models import Attempt


def fresh_salt() -> str:
    """Return 128 random bits for one attempt."""
    return secrets.token_hex(16)


def derive(*, run_id: int, number: int, salt: str) -> str:
    """Return the token of attempt `number` of a run."""
    mac = salted_hmac("safehold.attempt-token", f"{run_id}:{number}:{salt}", algorithm="sha256")
    return f"{tokens.ATTEMPT_PREFIX}{run_id}-{number}-{mac.hexdigest()}"


def token_of(attempt: Attempt) -> str:
    """Return the token to hand to the workload; the same on every call.

    Where the secret key was changed since, the old token can no longer be derived: a new one replaces it.
    """
    return known_token(attempt) or issue_token(attempt=attempt)


def known_token(attempt: Attempt) -> str:
    """Return the token, or an empty text where it can no longer be derived; changes nothing.

    For whoever only compares: to replace the token of a living attempt would cut its trainer off.
    """
    token = derive(run_id=attempt.run_id, number=attempt.number, salt=attempt.token_salt)
    return token if tokens.hash_token(token) == attempt.token_hash else ""


@transaction.atomic
def issue_token(*, attempt: Attempt) -> str:
    """Replace the token and return the new one; the old one is refused from then on."""
    attempt.token_salt = fresh_salt()
    token = derive(run_id=attempt.run_id, number=attempt.number, salt=attempt.token_salt)
    attempt.token_hash = tokens.hash_token(token)
    attempt.token_revoked_at = None
    attempt.save(update_fields=["token_salt", "token_hash", "token_revoked_at"])
    return token


@transaction.atomic
def revoke_token(*, attempt: Attempt) -> None:
    """Refuse everything that comes with this token, late metrics too (for a token that leaked).

    An attempt that ended needs no revoking: its metrics are still taken for a day, nothing else is.
    """
    attempt.token_revoked_at = attempt.token_revoked_at or timezone.now()
    attempt.save(update_fields=["token_revoked_at"])
