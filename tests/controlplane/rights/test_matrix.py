"""The role matrix: every route, asked by everybody, against the table of rights.

What is refused changes nothing, as triggers of the database say; an outsider learns nothing.
"""

from typing import Any

import pytest

from controlplane.common.models import AuditEntry, Role, Scope
from controlplane.common.rights import ACTS, Level
from tests.controlplane.rights import census
from tests.controlplane.rights.routes import NOT_DONE_HERE, ROUTES, Route
from tests.controlplane.rights.world import SECRET, Actor, World

pytestmark = pytest.mark.django_db
ROLES = {role.name.lower(): role for role in Role}


@pytest.fixture(scope="module", autouse=True)
def counted(world: World) -> None:
    """Have the database note every change from now on."""
    census.begin()


def expected(route: Route, actor: str) -> str:
    """Return what the table says: ok, forbidden, hidden or signed out."""
    act = ACTS[route.act]
    if actor in {"stranger", "inactive"}:
        return "signed out"
    if actor == "reader" and route.is_api and Scope.READ not in act.scopes:
        # A right that the person lacks is told before one that the token lacks.
        return "forbidden"
    if act.least is Level.PERSON:
        return "ok"
    if act.least is Level.ADMINISTRATOR:
        return "ok" if actor == "superuser" else "forbidden"
    if actor == "outsider" or (actor == "held" and route.is_api):
        return "ok" if route.is_list else "hidden"
    role = ROLES.get(actor, Role.ADMIN)
    return "ok" if role >= act.least else "forbidden"


def judge(route: Route, answer: Any, changed: set[tuple[str, str]]) -> str:
    """Return what became of a request."""
    to_sign_in = answer.status_code == 302 and answer["Location"].startswith("/sign-in")
    if answer.status_code == 401 or to_sign_in:
        return "signed out"
    if answer.status_code == 404:
        return "hidden"
    if answer.status_code == 403:
        return "forbidden"
    assert answer.status_code < 500, answer.content[-2000:]
    assert answer.status_code != 405
    told = answer.status_code == 302 and not changed and route.writes
    return "told" if told else "ok"


def ask(actor: Actor, route: Route, world: World) -> tuple[Any, set[tuple[str, str]]]:
    """Ask; return the answer and what changed, before it was taken back."""
    found: list[set[tuple[str, str]]] = []
    census.changed()
    answer = actor.ask(route, world.facts, after=lambda _: found.append(census.changed()))
    return answer, found[0]


@pytest.mark.parametrize("route", ROUTES, ids=str)
def test_everybody_gets_what_the_table_says(route: Route, world: World) -> None:
    wrong = {}
    for name, actor in world.actors.items():
        answer, changed = ask(actor, route, world)
        found, wanted = judge(route, answer, changed), expected(route, name)
        if wanted in {"forbidden", "hidden"} and not route.is_api and found == "told":
            found = wanted  # a page that tells the refusal in a message instead
        if wanted == "ok" and found == "told":
            found = wanted  # allowed, but the object is in no state for it
        if wanted != "ok" and changed:
            found = f"{found}, but changed {sorted(changed)}"
        if found != wanted:
            wrong[name] = (
                f"{found} instead of {wanted}: {answer.status_code} {answer.content[:300]!r}"
            )
        if name in {"outsider", "held", "stranger"} and route.is_api | (name != "held"):
            assert SECRET not in _without_request(answer), f"{name} learns of it"
    assert not wrong, wrong


def test_the_matrix_is_large() -> None:
    assert len(ROUTES) * 10 >= 1000


def test_every_act_of_the_table_has_a_route() -> None:
    elsewhere = {
        "run.waive_preflight",  # said with the launch
        "person.sign_in",
        "person.sign_out",
        "audit.read_all",
        "view.share",
        "cluster.change",
    }
    assert {route.act for route in ROUTES} | elsewhere == set(ACTS)


def test_every_change_by_a_person_is_in_the_trail(world: World) -> None:
    """Each route that writes, asked by somebody who may: what the triggers saw has an entry of that act."""
    seen: set[str] = set()
    for route in ROUTES:
        if route.method == "GET":
            continue
        actor = world.actors[
            "approver" if route.act.startswith(("config.approve", "config.reject")) else "superuser"
        ]
        before = AuditEntry.objects.order_by("-pk").values_list("pk", flat=True).first() or 0
        told: list[set[str]] = []

        def look(given: Any, before: int = before, told: list[set[str]] = told) -> None:
            given.changed = census.changed()
            told.append(
                set(AuditEntry.objects.filter(pk__gt=before).values_list("action", flat=True))
            )

        census.changed()
        answer = actor.ask(route, world.facts, after=look)
        census.changed()
        if answer.changed:
            assert told[0], f"{route} changed {sorted(answer.changed)} and left no entry"
            seen |= told[0]
            if (
                route.is_api and answer.status_code < 400
            ):  # a page also redirects where it was refused
                assert route.act in told[0], f"{route} left {told[0]}"
    wanted = {route.act for route in ROUTES if route.writes}
    assert wanted - seen == NOT_DONE_HERE, sorted(wanted - seen)


def _without_request(answer: Any) -> str:
    if answer.streaming:
        return b"".join(answer).decode(errors="replace")
    return str(answer.content.decode(errors="replace"))
