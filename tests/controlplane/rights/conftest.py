"""The world that all routes are asked in.

Models are imported late: this file may be read before Django is set up.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from django.db import transaction
from pytest_django import DjangoDbBlocker

if TYPE_CHECKING:
    from tests.controlplane.rights.world import World


@pytest.fixture(scope="module")
def world(
    django_db_setup: None,
    django_db_blocker: DjangoDbBlocker,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[World]:
    """One world for all tests of a file, which take back what they ask for."""
    from tests.controlplane.rights.world import make_world

    with (
        django_db_blocker.unblock(),
        pytest.MonkeyPatch.context() as patch,
        transaction.atomic(),
    ):
        patch.setattr("runs.services.hands.ask", lambda *args, **kwargs: None)
        yield make_world(tmp_path_factory.mktemp("world"))
        transaction.set_rollback(True)
