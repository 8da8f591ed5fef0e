"""Django is not set up yet when this file is read, so what needs it is imported where it is used."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from controlplane.common.models import Project, User


@pytest.fixture
def project(db: None) -> Project:
    from tests.factories import make_project

    return make_project()


@pytest.fixture
def user(project: Project) -> User:
    """An operator of the project."""
    from controlplane.common.models import Role
    from tests.factories import make_user

    return make_user(Role.OPERATOR, project)
