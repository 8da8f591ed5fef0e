"""Projects and members over the API."""

from threading import Thread
from typing import Any

import pytest
from django.db import connection

from controlplane.common.errors import SafeholdError
from controlplane.common.models import AuditEntry, Membership, Project, Role
from controlplane.common.services import members
from tests.factories import make_attempt, make_project, make_run, make_user
from tests.runs.api.callers import Api


def test_an_administrator_makes_a_project_and_is_its_admin(root: Api) -> None:
    made = root.post("projects", {"name": "  Vision \t models "})
    assert made.status_code == 201
    assert (made.json()["slug"], made.json()["name"], made.json()["role"]) == (
        "vision-models",
        "Vision models",
        "admin",
    )
    assert root.get("projects/vision-models").json()["id"] == made.json()["id"]
    assert AuditEntry.objects.get(action="project.create").data["slug"] == "vision-models"


def test_of_several_projects_the_only_one_at_work_need_not_be_named(
    root: Api, project: Project
) -> None:
    root.post("projects", {"name": "Vision"})
    assert root.post("cards", {"name": "a"}).status_code == 422
    root.post("projects/vision/archive")
    assert root.post("cards", {"name": "a"}).json()["project"] == project.slug


def test_the_same_request_again_makes_no_second_project(root: Api) -> None:
    answers = [
        root.post("projects", {"name": "Vision"}, Idempotency_Key="a").json() for _ in range(2)
    ]
    assert answers[0] == answers[1]
    assert Project.objects.filter(name="Vision").count() == 1


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"name": " "}, "name"),
        ({"name": "language MODELS"}, "name"),
        ({"name": "New", "slug": "lm"}, "slug"),
        ({"name": "New", "slug": "A b"}, "slug"),
        ({"name": "x" * 81}, "name"),
    ],
)
def test_a_name_that_cannot_be_used_is_told_by_field(
    root: Api, project: Project, body: dict[str, str], field: str
) -> None:
    refused = root.post("projects", body)
    assert refused.status_code == 422
    assert [one["field"] for one in refused.json()["errors"]] == [field]


def test_a_name_in_another_script_gets_a_slug(root: Api) -> None:
    assert root.post("projects", {"name": "语言模型"}).json()["slug"].startswith("project-")


def test_an_archived_project_is_read_only_until_it_is_brought_back(
    admin: Api, project: Project
) -> None:
    run = make_run(project=project)
    assert admin.post("projects/lm/archive").json()["archived_at"]
    assert admin.get(f"runs/{run.pk}").status_code == 200
    refused = admin.post("cards", {"name": "a", "project": "lm"})
    assert (refused.status_code, refused.json()["type"]) == (
        409,
        "urn:safehold:problem:project-archived",
    )
    assert admin.get("projects").json()["items"] == []
    assert [one["slug"] for one in admin.get("projects", archived=True).json()["items"]] == ["lm"]
    assert admin.post("projects/lm/restore").json()["archived_at"] is None
    assert admin.post("cards", {"name": "a", "project": "lm"}).status_code == 201
    acts = (
        AuditEntry.objects.filter(object_type="project")
        .order_by("pk")
        .values_list("action", flat=True)
    )
    assert list(acts) == ["project.archive", "project.restore"]


def test_a_project_at_work_is_not_archived(admin: Api, project: Project) -> None:
    attempt = make_attempt(run=make_run(project=project, name="busy"), state="running")
    refused = admin.post("projects/lm/archive")
    assert refused.status_code == 409
    assert f"run {attempt.run_id} (busy) is running" in refused.json()["detail"]


def test_members_come_change_and_go(admin: Api, project: Project) -> None:
    make_user(username="ben")
    added = admin.post("projects/lm/members", {"username": "ben", "role": "operator"})
    assert (added.status_code, added.json()["role"]) == (201, "operator")
    assert admin.patch("projects/lm/members/ben", {"role": "approver"}).json()["role"] == "approver"
    names = [one["username"] for one in admin.get("projects/lm/members").json()["items"]]
    assert names == ["ada", "ben"]
    assert admin.client.delete("/api/v1/projects/lm/members/ben").status_code == 204
    told = AuditEntry.objects.filter(object_type="membership").order_by("pk")
    assert [(one.action, one.data["person"]) for one in told] == [
        ("member.add", "ben"),
        ("member.change", "ben"),
        ("member.remove", "ben"),
    ]
    assert told[1].data | {"token": ""} == {
        "person": "ben",
        "old": "operator",
        "new": "approver",
        "token": "",
    }


@pytest.mark.parametrize("username", ["nobody", "gone", "ada"])
def test_only_somebody_active_who_is_no_member_can_be_added(
    admin: Api, project: Project, username: str
) -> None:
    make_user(username="gone", is_active=False)
    refused = admin.post("projects/lm/members", {"username": username})
    assert refused.status_code == 422
    assert refused.json()["errors"][0]["field"] == "username"


def test_the_last_admin_stays(admin: Api, project: Project) -> None:
    make_user(Role.ADMIN, project, username="away", is_active=False)
    for answer in (
        admin.patch("projects/lm/members/ada", {"role": "viewer"}),
        admin.client.delete("/api/v1/projects/lm/members/ada"),
    ):
        assert (answer.status_code, answer.json()["type"]) == (
            409,
            "urn:safehold:problem:last-admin",
        )
    make_user(Role.ADMIN, project, username="second")
    assert admin.client.delete("/api/v1/projects/lm/members/ada").status_code == 204


@pytest.mark.django_db(transaction=True)
def test_two_admins_who_remove_each_other_leave_one() -> None:
    project = make_project()
    ann, ben = make_user(Role.ADMIN, project), make_user(Role.ADMIN, project)

    def remove(user: Any, other: Any) -> None:
        try:
            members.remove_member(user=user, project=project, username=other.username)
        except SafeholdError:
            pass
        finally:
            connection.close()

    threads = [Thread(target=remove, args=pair) for pair in ((ann, ben), (ben, ann))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert Membership.objects.filter(project=project, role=Role.ADMIN).count() == 1


def test_lists_go_on_by_cursor(admin: Api, project: Project) -> None:
    for _ in range(4):
        make_user(Role.VIEWER, project)
    seen, cursor = [], ""
    while cursor is not None:
        page = admin.get("projects/lm/members", limit=2, cursor=cursor).json()
        seen += [one["username"] for one in page["items"]]
        cursor = page["next"]
    assert len(seen) == len(set(seen)) == 5
