"""Django is not set up yet when this file is read, so what needs it is imported where it is used."""

from typing import Any

import pytest


@pytest.fixture
def people(db: None, settings: Any) -> Any:
    # Nobody types a password here, and hashing one well takes longer than a test.
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    from tests.runs.views.people import make_people

    return make_people()
