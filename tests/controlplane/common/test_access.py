import pytest

from controlplane.common import access, tokens
from controlplane.common.errors import Forbidden, NotFound
from controlplane.common.models import Role
from tests.factories import make_project, make_user

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("own", list(Role))
@pytest.mark.parametrize("needed", list(Role))
def test_a_role_may_do_all_that_lower_ones_may(own, needed):
    project = make_project()
    user = make_user(own, project)
    if own >= needed:
        access.require(user, project.pk, needed)
    else:
        with pytest.raises(Forbidden, match=f"needs the role {needed.label}"):
            access.require(user, project.pk, needed)


def test_an_outsider_does_not_learn_that_the_project_exists():
    with pytest.raises(NotFound):
        access.require(make_user(), make_project().pk, Role.VIEWER)


def test_a_superuser_is_admin_everywhere():
    assert access.role_of(make_user(is_superuser=True), make_project().pk) is Role.ADMIN


def test_an_inactive_account_has_no_role():
    project = make_project()
    assert access.role_of(make_user(Role.ADMIN, project, is_active=False), project.pk) is None


def test_a_token_is_held_to_its_project():
    project, other = make_project(), make_project()
    user = make_user(Role.ADMIN, project)
    user.token, _ = tokens.issue_personal(user=user, name="held", project=other)
    assert access.role_of(user, project.pk) is None
    assert list(access.projects_of(user)) == []


def test_only_own_projects_are_listed():
    mine, _other = make_project(), make_project()
    assert list(access.projects_of(make_user(Role.VIEWER, mine))) == [mine]
