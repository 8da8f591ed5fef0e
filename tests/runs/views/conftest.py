"""Django is not set up yet when this file is read, so what needs it is imported where it is used."""

from typing import Any

import pytest


@pytest.fixture
def people(db: None) -> Any:
    from tests.runs.views.people import make_people

    return make_people()
