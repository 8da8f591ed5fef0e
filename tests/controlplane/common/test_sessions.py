"""One browser after the other's person: nothing of the first is left, and nothing breaks."""

import pytest
from django.test import Client

from controlplane.common.models import SignIn
from tests.factories import make_user

pytestmark = pytest.mark.django_db


def test_another_person_signs_in_where_somebody_is_signed_in() -> None:
    first, second, client = make_user(), make_user(), Client()
    client.force_login(first)
    before = client.session.session_key
    client.force_login(second)
    assert client.session.session_key not in {None, before}
    known = SignIn.objects.get(session_key=client.session.session_key)
    assert known.user == second
    assert client.get("/settings/account/").context["here"] == known.session_key
