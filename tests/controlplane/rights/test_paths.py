"""The same rights by the other ways: the sockets of pages, and the command line."""

from typing import Any

import pytest

from controlplane.common.errors import SafeholdError
from controlplane.common.models import Role, User
from runs.consumers import ProjectConsumer, RunConsumer
from runs.models import Run
from safehold.api_client import ApiClient
from safehold.cli.main import run as command
from tests.factories import make_attempt, make_project, make_run, make_user
from tests.runs.api.bridging import client_of
from tests.runs.api.callers import Api

pytestmark = pytest.mark.django_db
ROLES = [role.name.lower() for role in Role]
LOOKERS = [*ROLES, "superuser"]
PEOPLE = [*LOOKERS, "inactive", "outsider"]
# What each word of the command line needs.
COMMANDS = {
    "run show {run}": Role.VIEWER,
    "run list": None,
    "run stop {run}": Role.OPERATOR,
    "run pause {run}": Role.OPERATOR,
    "run save {run}": Role.OPERATOR,
    "card list": None,
    "config show {config}": Role.VIEWER,
    "config freeze {config}": Role.OPERATOR,
    "project show {slug}": Role.VIEWER,
    "project rename {slug} Other": Role.ADMIN,
    "project archive {slug}": Role.ADMIN,
    "member list {slug}": Role.VIEWER,
    "member add {slug} newcomer": Role.ADMIN,
    "member change {slug} newcomer viewer": Role.ADMIN,
    "token list": None,
    "audit list --project {slug}": Role.VIEWER,
}

# Allowed, but there is a run at work, or no such member yet.
IN_NO_STATE = ("project archive", "member change")


@pytest.fixture
def run() -> Run:
    made = make_run(project=make_project(slug="quiet"), desired="running")
    make_attempt(run=made, state="running")
    make_user(username="newcomer")
    return made


def person(name: str, run: Run) -> User:
    if name in ROLES:
        return make_user(Role[name.upper()], run.project)
    if name == "inactive":
        return make_user(Role.ADMIN, run.project, is_active=False)
    return make_user(is_superuser=name == "superuser")


@pytest.mark.parametrize("who", PEOPLE)
@pytest.mark.parametrize("kind", ["run", "project"])
def test_a_socket_opens_for_those_who_may_look(kind: str, who: str, run: Run) -> None:
    consumer: Any = RunConsumer() if kind == "run" else ProjectConsumer()
    numbers = {"run_id": run.pk, "project_id": run.project_id}
    consumer.scope = {"user": person(who, run), "url_route": {"kwargs": numbers}}
    if who in LOOKERS:
        consumer.check()
    else:
        with pytest.raises(SafeholdError):
            consumer.check()


@pytest.mark.parametrize("who", PEOPLE)
@pytest.mark.parametrize("words", COMMANDS)
def test_the_command_line_may_what_its_person_may(
    words: str,
    who: str,
    run: Run,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    user, needed = person(who, run), COMMANDS[words]
    client = client_of(Api(user))
    monkeypatch.setattr(ApiClient, "from_environment", classmethod(lambda cls: client))
    argv = words.format(run=run.pk, config=run.config_id, slug="quiet").split()
    code = command([*argv, "--json"])
    said = capfd.readouterr().err
    if who == "inactive":
        assert (code, "unknown, revoked or expired" in said) == (2, True)
    elif who == "outsider" and needed is not None:
        assert (code, "There is no" in said) == (2, True)
    elif needed is not None and who in ROLES and Role[who.upper()] < needed:
        assert (code, f"needs the role {needed.label}" in said) == (2, True)
    else:
        assert "needs the role" not in said
        assert code == 0 or words.startswith(IN_NO_STATE), said
