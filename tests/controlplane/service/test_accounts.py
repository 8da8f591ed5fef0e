"""The first accounts: made once, with passwords and a token that only their owner can read."""

import stat
from pathlib import Path

import pytest

from controlplane.common import access, tokens
from controlplane.common.models import Project, Scope, User
from controlplane.common.services import people
from controlplane.service import accounts
from controlplane.service.secrets import read

pytestmark = pytest.mark.django_db


def test_the_accounts_have_their_roles_and_can_sign_in(tmp_path: Path):
    made = accounts.seed(tmp_path)
    project = Project.objects.get(slug="main")
    for name, role in accounts.ACCOUNTS.items():
        user = User.objects.get(username=name)
        assert user.check_password(made[name])
        assert access.role_of(user, project.pk) == role
    assert accounts.read_credentials(tmp_path / "credentials") == made


def test_a_second_start_makes_nothing_and_keeps_the_token(tmp_path: Path):
    accounts.seed(tmp_path)
    token = read(tmp_path / "token")
    assert accounts.seed(tmp_path) == {}
    assert read(tmp_path / "token") == token


def test_the_token_is_an_admins_and_is_replaced_when_it_was_revoked(tmp_path: Path):
    accounts.seed(tmp_path)
    kept = tokens.find_personal(read(tmp_path / "token"))
    assert (kept.user.username, kept.scopes) == ("admin", Scope.values)
    kept.delete()
    accounts.seed(tmp_path)
    assert tokens.find_personal(read(tmp_path / "token")) is not None


def test_passwords_hold_nothing_that_looks_like_something_else():
    made = {people.new_password() for _ in range(200)}
    assert len(made) == 200
    assert not set("lI1O0o") & set("".join(made))


def test_credentials_and_token_are_readable_by_their_owner_only(tmp_path: Path):
    accounts.seed(tmp_path)
    for name in ("credentials", "token"):
        assert stat.S_IMODE((tmp_path / name).stat().st_mode) == 0o600


def test_after_the_loss_of_the_database_the_passwords_kept_serve_again(tmp_path: Path):
    first = accounts.seed(tmp_path)
    User.objects.filter(username="approver").delete()
    assert accounts.seed(tmp_path) == {"approver": first["approver"]}
