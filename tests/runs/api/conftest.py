"""The people of a project, a client for each, and a small real corpus.

Models are imported in the fixtures: this file is read before Django is set up.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.runs import corpus

if TYPE_CHECKING:
    from controlplane.common.models import Project
    from tests.runs.api.callers import Api


@pytest.fixture
def operator(project: Project) -> Api:
    return _member("OPERATOR", project)


@pytest.fixture
def viewer(project: Project) -> Api:
    return _member("VIEWER", project)


@pytest.fixture
def outsider(project: Project) -> Api:
    from tests.factories import make_project

    return _member("ADMIN", make_project())


@pytest.fixture
def document(tmp_path: Path) -> Callable[..., dict[str, Any]]:
    """Return config documents on a corpus that is really there."""
    return corpus.documents_on(tmp_path)


def _member(role: str, project: Project) -> Api:
    from controlplane.common.models import Role
    from tests.factories import make_user
    from tests.runs.api.callers import Api

    return Api(make_user(Role[role], project))
