"""A project with its people, and a client of the API for each.

Models are imported in the fixtures: this file is read before Django is set up.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from controlplane.common.models import Project
    from tests.runs.api.callers import Api


@pytest.fixture
def project(db: None) -> Project:
    from tests.factories import make_project

    return make_project(name="Language models", slug="lm")


@pytest.fixture
def admin(project: Project) -> Api:
    from controlplane.common.models import Role
    from tests.factories import make_user
    from tests.runs.api.callers import Api

    return Api(make_user(Role.ADMIN, project, username="ada"))


@pytest.fixture
def viewer(project: Project) -> Api:
    from controlplane.common.models import Role
    from tests.factories import make_user
    from tests.runs.api.callers import Api

    return Api(make_user(Role.VIEWER, project, username="vic"))


@pytest.fixture
def root(db: None) -> Api:
    from tests.factories import make_user
    from tests.runs.api.callers import Api

    return Api(make_user(is_superuser=True, username="root"))
