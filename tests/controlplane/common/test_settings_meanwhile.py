"""Two admins before one page of the settings: neither writes over what the other one did unseen."""

from typing import Any

import pytest
from django.test import Client

from controlplane.common.models import Membership, Project, Role
from tests.factories import make_user


@pytest.fixture
def admin(project: Project) -> Client:
    client = Client()
    client.force_login(make_user(Role.ADMIN, project))
    return client


def text(answer: Any) -> str:
    return str(answer.content.decode())


def test_a_name_that_somebody_gave_meanwhile_is_told(admin: Client, project: Project) -> None:
    version = admin.get("/settings/project/").context["version"]
    admin.post("/settings/project/", {"name": "First", "version": version})
    refused = admin.post("/settings/project/", {"name": "Second", "version": version})
    assert (refused.status_code, 'value="Second"' in text(refused)) == (422, True)
    assert "First was changed after you read it" in text(refused)
    again = {"name": "Second", "version": refused.context["version"]}
    assert admin.post("/settings/project/", again).status_code == 302
    project.refresh_from_db()
    assert project.name == "Second"


def test_a_role_that_somebody_gave_meanwhile_is_told(admin: Client, project: Project) -> None:
    ben = make_user(Role.VIEWER, project, username="ben")
    members = admin.get("/settings/members/").context["members"]
    version = next(version for member, version in members if member.user == ben)
    admin.post("/settings/members/ben/role/", {"role": 30, "version": version})
    page = admin.post("/settings/members/ben/role/", {"role": 20, "version": version}, follow=True)
    assert "was changed after you read it" in text(page)
    assert Membership.objects.get(user=ben).role == Role.APPROVER


def test_what_is_no_choice_of_days_is_told_beside_it(admin: Client) -> None:
    assert admin.post("/settings/tokens/", {"name": "a", "days": "x"}).status_code == 422
