"""Secrets at rest: what the database holds of them is worthless without the key of the service.

Fernet (AES-128-CBC with HMAC-SHA256) of the library `cryptography`. The key is SAFEHOLD_ENCRYPTION_KEY, or is derived
from the secret key. Several keys, separated by commas, let one be replaced: the first encrypts, all decrypt.
"""

import base64
from functools import cache

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from django.conf import settings
from django.utils.translation import gettext as _

from controlplane.common.errors import SafeholdError


class CannotDecrypt(SafeholdError):
    """A stored secret was encrypted with a key that the service no longer has."""

    code = "cannot-decrypt"
    http_status = 500


def encrypt(text: str) -> str:
    """Return the text in a form that may be stored."""
    return (
        _keys(settings.SAFEHOLD_ENCRYPTION_KEY, settings.SECRET_KEY).encrypt(text.encode()).decode()
    )


def decrypt(stored: str) -> str:
    """Return the text again.

    Raises:
        CannotDecrypt: The key is another one, or the stored form was changed.
    """
    try:
        keys = _keys(settings.SAFEHOLD_ENCRYPTION_KEY, settings.SECRET_KEY)
        return keys.decrypt(stored.encode()).decode()
    except InvalidToken as error:
        raise CannotDecrypt(
            _("A stored secret cannot be decrypted with the key of this service."),
            hint=_(
                "Give the former key as a second one in SAFEHOLD_ENCRYPTION_KEY, or enter the secret again."
            ),
        ) from error


def key_texts() -> list[str]:
    """Return the secrets that keys are derived from: the first makes what is new, all read what is old."""
    return _texts(settings.SAFEHOLD_ENCRYPTION_KEY, settings.SECRET_KEY)


@cache
def _keys(given: str, secret_key: str) -> MultiFernet:
    return MultiFernet([Fernet(_derived(text)) for text in _texts(given, secret_key)])


def _texts(given: str, secret_key: str) -> list[str]:
    return [key.strip() for key in given.split(",") if key.strip()] or [secret_key]


def _derived(text: str) -> bytes:
    """Return a key of full length from a secret of any form (RFC 5869)."""
    kdf = HKDF(algorithm=SHA256(), length=32, salt=None, info=b"safehold stored secrets")
    return base64.urlsafe_b64encode(kdf.derive(text.encode()))
