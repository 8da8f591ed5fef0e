"""Nothing that people edit is written over unseen: each has a version, sent back as If-Match."""

from typing import Any

import pytest

from controlplane.common.models import Project, Role
from runs.models import Run
from tests.factories import make_run, make_user
from tests.runs.api.callers import Api

Edit = tuple[str, str, dict[str, Any], dict[str, Any], str]


@pytest.fixture
def admin(project: Project) -> Api:
    return Api(make_user(Role.ADMIN, project))


@pytest.fixture
def colleague(project: Project) -> Api:
    return Api(make_user(Role.ADMIN, project))


@pytest.fixture
def edits(project: Project, admin: Api) -> dict[str, Edit]:
    """Of each kind: where it is read, where it is changed, two changes, and the field that they change."""
    card = admin.post("cards", {"name": "first"}).json()["id"]
    run = make_run(project=project)
    rule = next(one["id"] for one in admin.get("rulebook").json()["items"] if one["low"] and one["high"])  # fmt: skip
    member = make_user(Role.VIEWER, project).username
    path = f"projects/{project.slug}"
    return {
        "card": (f"cards/{card}", f"cards/{card}", {"question": "Why?"}, {"question": "How?"}, "question"),
        "run": (f"runs/{run.pk}", f"runs/{run.pk}", {"notes": "odd"}, {"notes": "fine", "tags": ["a"]}, "notes"),
        "rule": ("rulebook", f"rulebook/{rule}", {"low": 1e-9, "reason": "a"}, {"low": 2e-9, "reason": "b"}, "low"),
        "project": (path, path, {"name": "Another name"}, {"name": "A third name"}, "name"),
        "member": (f"{path}/members", f"{path}/members/{member}", {"role": "operator"}, {"role": "approver"}, "role"),
    }  # fmt: skip


def version(api: Api, place: str, path: str) -> str:
    found = api.get(place).json()
    if "items" in found:
        name = path.rpartition("/")[2]
        found = next(one for one in found["items"] if name in (one.get("id"), one.get("username")))
    return str(found["version"])


each = pytest.mark.parametrize("kind", ["card", "run", "rule", "project", "member"])


@each
def test_a_change_of_what_was_read_is_made(
    edits: dict[str, Edit], admin: Api, colleague: Api, kind: str
) -> None:
    place, path, first, second, _ = edits[kind]
    seen = version(admin, place, path)
    answer = admin.patch(path, first, If_Match=f'"{seen}"')
    assert answer.status_code == 200, answer.content
    now = answer.json()["version"]
    assert now != seen
    assert version(colleague, place, path) == now
    assert colleague.patch(path, second, If_Match=f'W/"{now}"').status_code == 200


@each
def test_what_somebody_else_changed_is_not_written_over(
    edits: dict[str, Edit], admin: Api, colleague: Api, kind: str
) -> None:
    place, path, first, second, field = edits[kind]
    seen = version(admin, place, path)
    assert colleague.patch(path, first).status_code == 200
    refused = admin.patch(path, second, If_Match=f'"{seen}"')
    problem = refused.json()
    assert (refused.status_code, problem["type"]) == (412, "urn:safehold:problem:changed-meanwhile")
    assert field in {one["field"] for one in problem["changes"]} or kind == "rule"
    assert problem["version"] == version(admin, place, path)
    assert colleague.user.username in problem["detail"] or kind == "rule"
    assert admin.patch(path, second, If_Match=f'"{problem["version"]}"').status_code == 200


@each
def test_a_version_that_is_none_is_refused_and_none_or_any_is_not_asked_for(
    edits: dict[str, Edit], admin: Api, kind: str
) -> None:
    _, path, first, second, _ = edits[kind]
    for odd in ('"nonsense"', "a-b-c-d", '"é"', "2020-01-01", '"' + "x" * 500 + '"'):
        assert admin.patch(path, first, If_Match=odd).status_code == 412
    several = admin.patch(path, first, If_Match='"a", "b"')
    assert (several.status_code, several.json()["errors"][0]["field"]) == (422, "If-Match")
    assert admin.patch(path, first, If_Match="*").status_code == 200
    assert admin.patch(path, second).status_code == 200


def test_what_a_card_was_is_told_with_who_and_when(
    edits: dict[str, Edit], admin: Api, colleague: Api
) -> None:
    place, path, *_ = edits["card"]
    seen = version(admin, place, path)
    colleague.patch(path, {"question": "Why?", "reason": "a typing error"})
    problem = admin.patch(path, {"question": "How?"}, If_Match=f'"{seen}"').json()
    (told,) = problem["changes"]
    assert (told["field"], told["old"], told["new"]) == ("question", "", "Why?")
    assert (told["user"], told["reason"]) == (colleague.user.username, "a typing error")


def test_who_changed_it_is_named_not_who_did_something_else_with_it(
    edits: dict[str, Edit], admin: Api, colleague: Api, project: Project
) -> None:
    place, path, first, second, _ = edits["run"]
    seen = version(admin, place, path)
    colleague.patch(path, first)
    third = Api(make_user(Role.ADMIN, project))
    assert third.post(f"{path}/archive").status_code == 200
    detail = admin.patch(path, second, If_Match=f'"{seen}"').json()["detail"]
    assert colleague.user.username in detail
    assert third.user.username not in detail


def test_other_fields_of_a_run_may_move_meanwhile(edits: dict[str, Edit], admin: Api) -> None:
    place, path, first, *_ = edits["run"]
    seen = version(admin, place, path)
    Run.objects.update(step=500, tokens=7)
    assert admin.patch(path, first, If_Match=f'"{seen}"').status_code == 200


@pytest.mark.parametrize("kind", ["card", "run"])
def test_the_version_is_the_etag_too(edits: dict[str, Edit], admin: Api, kind: str) -> None:
    place, path, first, *_ = edits[kind]
    assert admin.get(place)["ETag"] == f'"{version(admin, place, path)}"'
    changed = admin.patch(path, first)
    assert changed["ETag"] == f'"{changed.json()["version"]}"'


def test_bounds_that_were_taken_back_are_not_set_again_unseen(
    edits: dict[str, Edit], admin: Api
) -> None:
    place, path, first, second, _ = edits["rule"]
    admin.patch(path, first)
    seen = version(admin, place, path)
    admin.client.delete(f"/api/v1/{path}")
    refused = admin.patch(path, second, If_Match=f'"{seen}"')
    assert (refused.status_code, refused.json()["changes"]) == (412, [{"field": "is_own", "now": False}])  # fmt: skip
