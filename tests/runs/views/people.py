"""Three people before the pages of one project: an operator, a viewer and an outsider."""

from dataclasses import dataclass

from django.test import Client

from controlplane.common.models import Project, Role, User
from tests.factories import make_project, make_user


@dataclass(frozen=True)
class People:
    """Who asks; each client is signed in."""

    project: Project
    operator: Client
    viewer: Client
    outsider: Client
    operator_user: User


def make_people() -> People:
    """Return the three, members of a fresh project as far as they are."""
    project = make_project(name="Language models")
    users = [make_user(Role.OPERATOR, project), make_user(Role.VIEWER, project), make_user()]
    clients = [Client() for _ in users]
    for client, user in zip(clients, users, strict=True):
        client.force_login(user)
    return People(project, *clients, operator_user=users[0])
