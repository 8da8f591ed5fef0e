"""Fixtures of all tests: real PostgreSQL and Valkey, a live service, the browser."""

from __future__ import annotations

import contextlib
import gc
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests import environment

environment.prepare()

import hypothesis  # noqa: E402
import pytest  # noqa: E402
from django.conf import settings  # noqa: E402
from django.contrib.auth.hashers import Argon2PasswordHasher  # noqa: E402
from playwright.sync_api import expect  # noqa: E402
from pytest_django import DjangoDbBlocker  # noqa: E402

from controlplane.service.valkey import Valkey  # noqa: E402
from tests import choice, servers  # noqa: E402
from tests import live_service as live  # noqa: E402

if TYPE_CHECKING:
    from controlplane.common.models import Project, User

assert settings.DATABASES  # pytest-django sets Django up once the settings are read
# Inherited by an xdist worker it would make pytest-django read the settings before this file.
del os.environ["DJANGO_SETTINGS_MODULE"]

# How long an example takes says more about the machine than about the code.
hypothesis.settings.register_profile("safehold", deadline=None)
hypothesis.settings.load_profile("safehold")
# Tests make hundreds of users; a real service still reads hashes of this low cost.
Argon2PasswordHasher.time_cost = 1
Argon2PasswordHasher.memory_cost = 8
Argon2PasswordHasher.parallelism = 1

# Each client of a test would list all static files anew.
settings.WHITENOISE_AUTOREFRESH = True

CHROMIUM = shutil.which("chromium") or "/usr/bin/chromium"


def pytest_addoption(parser: pytest.Parser) -> None:
    choice.add_options(parser)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    choice.choose(config, items)


def pytest_collection_finish() -> None:
    # Thousands of tests live to the end: no use in looking through them again and again.
    gc.freeze()
    gc.set_threshold(20_000, 10, 10)


def pytest_unconfigure(config: pytest.Config) -> None:
    # A home with a PostgreSQL is removed by the keeper, after the server has stopped.
    is_owner = os.environ["SAFEHOLD_TEST_OWNER"] == str(os.getpid())
    if is_owner and not (environment.HOME / "lock").exists():
        shutil.rmtree(environment.HOME, ignore_errors=True)


@pytest.fixture(scope="session")
def postgres_server() -> None:
    """Start the PostgreSQL of the session."""
    servers.ensure_postgres()


@pytest.fixture(scope="session")
def valkey_server() -> Iterator[Valkey]:
    """Run the Valkey of this process; settings.REDIS_URL names it."""
    server = Valkey(environment.WORKER_HOME)
    server.start()
    yield server
    server.stop()


@pytest.fixture(scope="session")
def django_db_modify_db_settings(
    postgres_server: None,
    valkey_server: Valkey,
    django_db_modify_db_settings_parallel_suffix: None,
) -> None:
    """Have the servers run before pytest-django makes the test database."""


@pytest.fixture(scope="session")
def kept_service(
    postgres_server: None,
    valkey_server: Valkey,
    django_test_environment: None,
    django_db_blocker: DjangoDbBlocker,
) -> Iterator[live.LiveService]:
    """The whole service (web, worker, clock) of this test process; borrow it by the next two."""
    with contextlib.ExitStack() as stack:
        with django_db_blocker.unblock():
            service = stack.enter_context(live.running(valkey_server))
        yield service


@pytest.fixture
def live_service(
    kept_service: live.LiveService, django_db_blocker: DjangoDbBlocker
) -> Iterator[live.LiveService]:
    """A whole service for one test, who may kill any part of it; the ORM of the test sees its database.

    Use it without `db`: rows are really committed, and removed afterwards.
    """
    with django_db_blocker.unblock(), live.lent(kept_service) as service:
        yield service


@pytest.fixture(scope="module")
def live_service_module(
    kept_service: live.LiveService, django_db_blocker: DjangoDbBlocker
) -> Iterator[live.LiveService]:
    """The same for all tests of a module, which then share its rows."""
    with django_db_blocker.unblock(), live.lent(kept_service) as service:
        yield service


@pytest.fixture(scope="session")
def browser_type_launch_args(browser_type_launch_args: dict[str, Any]) -> dict[str, Any]:
    """Run the system's Chromium, silent about everything but the pages.

    Playwright keeps an event loop in this thread from here on, in which Django would refuse the ORM.
    """
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"
    expect.set_options(timeout=15_000)  # trainings of other tests share the machine
    switches = ["--disable-background-networking", "--disable-component-update", "--no-first-run"]
    switches += ["--disable-sync", "--disable-default-apps", "--disable-dev-shm-usage"]
    if os.geteuid() == 0:
        switches.append("--no-sandbox")
    return {**browser_type_launch_args, "executable_path": CHROMIUM, "args": switches}


@pytest.fixture
def project(db: None) -> Project:
    """A project with nothing in it."""
    # Models can be read only once Django is set up, later than this file.
    from tests.factories import make_project

    return make_project()


@pytest.fixture
def user(project: Project) -> User:
    """An operator of the project."""
    from controlplane.common.models import Role
    from tests.factories import make_user

    return make_user(Role.OPERATOR, project)


@pytest.fixture
def safehold_home(tmp_path: Path) -> Path:
    """An empty state directory."""
    return tmp_path / "home"
