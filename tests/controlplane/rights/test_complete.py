"""Nothing that can be asked for stands outside of the table: pages, API operations, sockets, the command line, services."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.urls import URLPattern, URLResolver, get_resolver

from controlplane.api import api
from controlplane.common.rights import ACTS, READ
from runs.routing import websocket_urlpatterns
from tests.controlplane.rights.routes import API, PAGES

ROOT = Path(__file__).resolve().parents[3]
# Before anybody is known, or for programs that bring a token of their own.
OPEN = {
    "home", "healthz", "readyz", "sign_in", "sign_out", "oidc_begin", "oidc_callback", "session", "signed_in_again",
    "set_language",
}  # fmt: skip
# Pods, with the token of their attempt: tests/runs/ingest.
INGEST = re.compile(r"^api/v1/(ingest|checkpoints/register)")


def pages(patterns: Any = None, space: str = "", prefix: str = "") -> Iterator[str]:
    for one in get_resolver().url_patterns if patterns is None else patterns:
        if isinstance(one, URLResolver):
            inner = f"{space}{one.namespace}:" if one.namespace else space
            yield from pages(one.url_patterns, inner, prefix + str(one.pattern))
        elif isinstance(one, URLPattern) and not (prefix + str(one.pattern)).startswith("api/v1/"):
            yield f"{space}{one.name}"


def test_every_page_is_in_the_table() -> None:
    assert set(pages()) - OPEN == {route.name for route in PAGES}


def test_every_operation_of_the_api_is_in_the_table() -> None:
    paths = api.get_openapi_schema(path_prefix="")["paths"]
    known = {f"{method.upper()} {path}" for path, ones in paths.items() for method in ones}
    assert known == {route.name for route in API}


def test_every_operation_asks_who_calls() -> None:
    schema = api.get_openapi_schema(path_prefix="")
    open_ones = [
        path
        for path, ones in schema["paths"].items()
        for one in ones.values()
        if not one.get("security")
    ]
    assert open_ones == []


@pytest.mark.django_db
@pytest.mark.parametrize("name", sorted({route.name for route in PAGES}))
def test_a_page_takes_no_method_but_those_of_the_table(
    name: str, client: Any, django_user_model: Any
) -> None:
    client.force_login(django_user_model.objects.create_user("root", is_superuser=True))
    taken = {route.method for route in PAGES if route.name == name}
    path = re.sub(r"\{[a-z_]+\}", "1", next(route.path for route in PAGES if route.name == name))
    for method in {"GET", "POST", "PUT", "PATCH", "DELETE"} - taken:
        assert client.generic(method, path).status_code == 405, method


def test_the_sockets_only_read_and_take_one_word() -> None:
    """What a socket takes is a choice of what to be told; a command would need a row in the table."""
    takes = {
        one.lookup_str.rpartition(".")[2]: one.callback.consumer_class
        for one in websocket_urlpatterns
    }
    assert set(takes) == {"RunConsumer", "ProjectConsumer"} or {
        one.callback.consumer_class.__name__ for one in websocket_urlpatterns
    } == {"RunConsumer", "ProjectConsumer"}
    source = (ROOT / "runs/consumers.py").read_text()
    assert set(re.findall(r'wanted\.get\("(\w+)"\)', source)) == {"names"}
    assert source.count("READ") + source.count("run_for(") >= 2


def acts_in(folders: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """Yield (place, act) for every act that the code names to the rights or to the audit trail."""
    for file in (file for folder in folders for file in (ROOT / folder).rglob("*.py")):
        if "migrations" in file.parts:
            continue
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.Call):
                place = f"{file.relative_to(ROOT)}:{node.lineno}"
                yield from ((place, act) for act in _named(node))


def _named(call: ast.Call) -> Iterator[str]:
    function = ast.unparse(call.func)
    wanted = [*call.args, *[one.value for one in call.keywords if one.arg in {"act", "action"}]]
    if function.endswith(("require", "require_service", "access.may", "_for", "audit.record")):
        for one in wanted:
            if (
                isinstance(one, ast.Constant)
                and isinstance(one.value, str)
                and re.fullmatch(r"[a-z]+\.[a-z_]+", one.value)
            ):
                yield one.value


def test_the_code_names_no_act_that_is_not_in_the_table() -> None:
    # What the service does itself, without a person.
    own = {"person.follow_groups", "member.follow_groups", "run.purge"}
    found = {
        (place, act) for place, act in acts_in(("controlplane", "runs", "checkpoints", "workers"))
    }
    assert {(place, act) for place, act in found if act not in ACTS and act not in own} == set()


def test_rights_are_asked_for_by_act_not_by_role() -> None:
    lines = [
        f"{file.relative_to(ROOT)}: {line.strip()}"
        for folder in ("controlplane", "runs", "checkpoints", "workers")
        for file in (ROOT / folder).rglob("*.py")
        for line in file.read_text().splitlines()
        if re.search(r"require\(.*\bRole\.", line)
    ]
    assert lines == []


def test_reading_is_the_only_act_of_a_viewer_that_a_token_may_always_do() -> None:
    assert [
        act.name
        for act in ACTS.values()
        if "read" in act.scopes and act.name.partition(".")[2] not in {"read", "verify", "read_all"}
    ] == []
    assert ACTS[READ].scopes == {"read"}


def test_the_page_of_the_roles_shows_the_table() -> None:
    rows = re.findall(
        r"^\| `([a-z_.]+)` \| ([a-z ]+) \| ([a-z, ]+) \|",
        (ROOT / "docs/reference/roles.md").read_text(),
        re.MULTILINE,
    )
    told = {name: (least, scopes) for name, least, scopes in rows}
    known = {
        act.name: (str(act.least.label), ", ".join(sorted(str(one.value) for one in act.scopes)))
        for act in ACTS.values()
    }
    assert told == known
