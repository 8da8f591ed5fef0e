from datetime import timedelta

import pytest
from django.utils import timezone

from controlplane.common import tokens
from controlplane.common.models import PersonalToken
from tests.factories import make_user

pytestmark = pytest.mark.django_db


def test_a_token_is_found_by_its_secret_and_only_its_digest_is_kept():
    user = make_user()
    token, secret = tokens.issue_personal(user=user, name="laptop")
    assert tokens.find_personal(secret) == token
    assert secret not in str(PersonalToken.objects.values().get())


def test_an_unknown_secret_finds_nothing():
    tokens.issue_personal(user=make_user(), name="laptop")
    assert tokens.find_personal("shp_guess") is None


@pytest.mark.parametrize(
    "change",
    [
        {"revoked_at": timezone.now()},
        {"expires_at": timezone.now() - timedelta(seconds=1)},
    ],
)
def test_a_revoked_or_expired_token_finds_nothing(change):
    token, secret = tokens.issue_personal(user=make_user(), name="laptop")
    PersonalToken.objects.filter(pk=token.pk).update(**change)
    assert tokens.find_personal(secret) is None


def test_the_token_of_a_blocked_account_finds_nothing():
    user = make_user()
    _, secret = tokens.issue_personal(user=user, name="laptop")
    user.is_active = False
    user.save(update_fields=["is_active"])
    assert tokens.find_personal(secret) is None
