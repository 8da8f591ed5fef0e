"""The people of the pages' tests. Models are imported in the fixture: Django is not set up yet."""

from typing import Any

import pytest


@pytest.fixture
def people(db: None) -> Any:
    from tests.runs.views.people import make_people

    return make_people()
