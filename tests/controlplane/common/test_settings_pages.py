"""The pages of the settings: what each role finds there, what a form does and refuses."""

import hashlib
import json
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from controlplane.common import audit
from controlplane.common.models import (
    AuditEntry,
    Membership,
    PersonalToken,
    Project,
    Role,
    SignIn,
    User,
)
from tests.factories import make_project, make_user

PASSWORD = "long enough for anybody"


def signed_in(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


@pytest.fixture
def ada(project: Project) -> Client:
    return signed_in(make_user(Role.ADMIN, project, username="ada", password=PASSWORD))


@pytest.fixture
def vic(project: Project) -> Client:
    return signed_in(make_user(Role.VIEWER, project, username="vic"))


@pytest.fixture
def boss(project: Project) -> Client:
    return signed_in(make_user(is_superuser=True, username="boss"))


def text(answer: Any) -> str:
    return str(answer.content.decode())


@pytest.mark.parametrize("path", ["project", "members", "tokens", "audit", "account"])
def test_every_member_reads_every_page(vic: Client, path: str) -> None:
    page = vic.get(f"/settings/{path}/")
    assert page.status_code == 200
    assert 'aria-current="page"' in text(page)


@pytest.mark.parametrize("path", ["people", "projects/new"])
def test_the_service_is_for_its_administrators(
    vic: Client, ada: Client, boss: Client, path: str
) -> None:
    assert [one.get(f"/settings/{path}/").status_code for one in (vic, ada, boss)] == [
        403,
        403,
        200,
    ]


def test_who_belongs_to_no_project_still_has_an_account(db: None) -> None:
    client = signed_in(make_user())
    assert client.get("/settings/")["Location"] == "/settings/account/"
    assert client.get("/settings/tokens/").status_code == 200
    assert client.get("/settings/members/").status_code == 404


def test_the_first_administrator_is_led_to_the_first_project(db: None) -> None:
    page = text(signed_in(make_user(is_superuser=True)).get("/runs/"))
    assert 'class="btn btn-primary" href="/settings/projects/new/"' in page
    assert "Ask an admin" not in page
    assert "Ask an admin" in text(signed_in(make_user()).get("/runs/"))


def test_a_viewer_finds_no_form_that_would_be_refused(vic: Client) -> None:
    for path in ("project", "members"):
        assert "btn-danger" not in text(vic.get(f"/settings/{path}/"))


def test_a_member_is_added_changed_and_removed(ada: Client, project: Project) -> None:
    make_user(username="ben")
    assert ada.post("/settings/members/", {"username": "ben", "role": 20}).status_code == 302
    ada.post("/settings/members/ben/role/", {"role": 30})
    assert Membership.objects.get(user__username="ben").role == Role.APPROVER
    assert "ben is now approver" in text(ada.get("/settings/members/"))
    ada.post("/settings/members/ben/remove/")
    assert not Membership.objects.filter(user__username="ben").exists()


def test_what_is_wrong_stands_beside_its_field(ada: Client) -> None:
    page = ada.post("/settings/members/", {"username": "nobody", "role": 20})
    assert page.status_code == 422
    assert "There is no active account" in text(page)
    assert 'value="nobody"' in text(page)


def test_the_last_admin_is_told_why(ada: Client, project: Project) -> None:
    for act in ("role", "remove"):
        page = ada.post(f"/settings/members/ada/{act}/", {"role": 10}, follow=True)
        assert "ada is the last admin" in text(page)
    assert Membership.objects.get(user__username="ada").role == Role.ADMIN


def test_a_project_is_renamed_archived_and_brought_back(ada: Client, project: Project) -> None:
    ada.post("/settings/project/", {"name": "Big models"})
    ada.post("/settings/project/archive/")
    project.refresh_from_db()
    assert project.name == "Big models"
    assert project.archived_at is not None
    assert "archived" in text(ada.get("/settings/project/"))
    ada.post("/settings/project/restore/")
    project.refresh_from_db()
    assert project.archived_at is None


def test_a_new_project_is_chosen_at_once(boss: Client, project: Project) -> None:
    page = boss.post("/settings/projects/new/", {"name": "Vision", "slug": ""}, follow=True)
    assert page.redirect_chain == [("/settings/members/", 302)]
    assert page.context["current_project"].slug == "vision"


def test_a_token_is_shown_once_and_revoked(ada: Client, project: Project) -> None:
    page = ada.post(
        "/settings/tokens/",
        {"name": "laptop", "scopes": ["run"], "project": project.pk, "days": 30},
    )
    token = PersonalToken.objects.get(name="laptop")
    secret = page.context["secret"]
    assert page.status_code == 201
    assert page["Cache-Control"] == "no-store"
    assert (token.scopes, token.project, secret in text(page)) == (["read", "run"], project, True)
    assert token.expires_at is not None
    assert abs(token.expires_at - timezone.now() - timedelta(days=30)) < timedelta(minutes=1)
    assert secret not in text(ada.get("/settings/tokens/"))
    ada.post(f"/settings/tokens/{token.pk}/revoke/")
    assert (
        Client(headers={"Authorization": f"Bearer {secret}"}).get("/api/v1/me").status_code == 401
    )


def test_a_password_is_changed_and_other_browsers_are_out(ada: Client) -> None:
    other = signed_in(User.objects.get(username="ada"))
    given = {
        "old": PASSWORD,
        "new": "a better one than before",
        "again": "a better one than before",
    }
    assert ada.post("/settings/account/password/", given).status_code == 302
    assert ada.get("/settings/account/").status_code == 200
    assert other.get("/settings/account/").status_code == 302
    assert User.objects.get(username="ada").check_password("a better one than before")
    assert SignIn.objects.count() == 1


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"old": "wrong"}, "not your password"),
        ({"new": "short", "again": "short"}, "at least 12 characters"),
        ({"new": "password12345", "again": "password12345"}, "too common"),
        ({"new": "123456789012345", "again": "123456789012345"}, "entirely numeric"),
        ({"again": "something else"}, "not the same"),
    ],
)
def test_a_bad_password_is_refused(ada: Client, change: dict[str, str], told: str) -> None:
    given = {
        "old": PASSWORD,
        "new": "a better one than before",
        "again": "a better one than before",
    }
    page = ada.post("/settings/account/password/", given | change)
    assert page.status_code == 422
    assert told in text(page)
    assert User.objects.get(username="ada").check_password(PASSWORD)


def test_one_or_all_other_sign_ins_are_ended(ada: Client) -> None:
    user = User.objects.get(username="ada")
    others = [signed_in(user) for _ in range(3)]
    first = SignIn.objects.get(session_key=others[0].session.session_key)
    ada.post("/settings/account/sign-ins/end/", {"sign_in": first.pk})
    assert [one.get("/settings/account/").status_code for one in others] == [302, 200, 200]
    ada.post("/settings/account/sign-ins/end/")
    assert [one.get("/settings/account/").status_code for one in (ada, *others)] == [
        200,
        302,
        302,
        302,
    ]


def test_nobody_ends_the_sign_in_of_somebody_else(ada: Client, vic: Client) -> None:
    other = SignIn.objects.get(user__username="vic")
    ada.post("/settings/account/sign-ins/end/", {"sign_in": other.pk})
    assert vic.get("/settings/account/").status_code == 200


def test_an_account_is_made_closed_and_given_a_new_password(boss: Client) -> None:
    page = boss.post("/settings/people/", {"username": "new", "full_name": "New Person"})
    person = User.objects.get(username="new")
    assert page.status_code == 201
    assert person.check_password(page.context["password"])
    client = signed_in(person)
    again = boss.post(f"/settings/people/{person.pk}/password/").context["password"]
    assert client.get("/settings/account/").status_code == 302
    person.refresh_from_db()
    assert person.check_password(again)
    boss.post(f"/settings/people/{person.pk}/active/", {"active": "no"})
    assert client.post("/sign-in", {"username": "new", "password": again}).status_code == 200
    boss.post(f"/settings/people/{person.pk}/active/", {"active": "yes"})
    assert client.post("/sign-in", {"username": "new", "password": again}).status_code == 302


def test_nobody_closes_their_own_account(boss: Client) -> None:
    user = User.objects.get(username="boss")
    page = boss.post(f"/settings/people/{user.pk}/active/", {"active": "no"}, follow=True)
    assert "cannot close your own account" in text(page)


def fill(project: Project, num: int) -> None:
    user = User.objects.get(username="ada")
    for number in range(num):
        audit.record(
            actor=user,
            action="card.create",
            object=project,
            project_id=project.pk,
            data={"n": number},
        )


def test_the_trail_writes_values_as_people_read_them(ada: Client, project: Project) -> None:
    data = {"checkpoint": {"step": 5, "path": "/ckpt/5"}, "old": {}, "is_on": True}
    audit.record(actor=None, action="run.create", object=project, project_id=project.pk, data=data)
    page = ada.get("/settings/audit/").content.decode()
    assert "path /ckpt/5, step 5" in page
    assert not {"{}", "&#x27;step&#x27;", ">True<"} & set(page.split())


def test_the_trail_is_cut_by_key_and_filtered_by_the_address(ada: Client, project: Project) -> None:
    fill(project, 60)
    first = ada.get("/settings/audit/")
    assert len(first.context["rows"]) == 50
    fill(project, 3)
    second = ada.get("/settings/audit/", {"cursor": first.context["next_cursor"]})
    assert [row.data["n"] for row in second.context["rows"]] == list(range(9, -1, -1))
    for query, num in (
        ({"actor": "ada"}, 50), ({"actor": "vic"}, 0), ({"action": "card"}, 50), ({"action": "card.create"}, 50),
        ({"action": "member"}, 0), ({"object": f"project:{project.pk}"}, 50), ({"object": "run:1"}, 0),
        ({"since": "2100-01-01"}, 0), ({"until": "2000-01-01"}, 0), ({"since": "nonsense"}, 50), ({"cursor": "x"}, 50),
        ({"actor": "a\0b"}, 50), ({"until": "9999-12-31"}, 50), ({"since": "0001-01-01"}, 50),
    ):  # fmt: skip
        assert len(ada.get("/settings/audit/", query).context["rows"]) == num, query


def test_the_trail_of_another_project_is_not_shown(
    vic: Client, ada: Client, project: Project
) -> None:
    other = make_project()
    audit.record(actor=None, action="card.create", object=other, project_id=other.pk)
    audit.record(actor=None, action="person.create", object=other)
    for query in ({}, {"all": "1"}):
        assert [row.project_id for row in vic.get("/settings/audit/", query).context["rows"]] == []


def test_what_belongs_to_no_project_is_for_those_who_did_it(
    vic: Client, ada: Client, boss: Client
) -> None:
    audit.record(
        actor=User.objects.get(username="vic"), action="token.create", object=Project.objects.get()
    )
    seen = [
        len(one.get("/settings/audit/", {"all": "1"}).context["rows"]) for one in (vic, ada, boss)
    ]
    assert seen == [1, 0, 1]


def test_the_trail_costs_the_same_however_long(
    ada: Client, project: Project, django_assert_max_num_queries: Any
) -> None:
    fill(project, 50)
    ada.get("/settings/audit/")
    with django_assert_max_num_queries(11):
        ada.get("/settings/audit/")


@pytest.mark.parametrize("path", ["members", "people", "tokens"])
def test_lists_cost_the_same_however_long(
    boss: Client, project: Project, path: str, django_assert_max_num_queries: Any
) -> None:
    for _ in range(20):
        make_user(Role.VIEWER, project)
    with django_assert_max_num_queries(12):
        assert boss.get(f"/settings/{path}/").status_code == 200


def test_the_export_is_what_the_filters_choose(ada: Client, project: Project) -> None:
    fill(project, 2)
    audit.record(
        actor=None,
        action="run.stop",
        object=project,
        project_id=project.pk,
        data={"reason": "=1+1"},
    )
    lines = b"".join(
        ada.get("/settings/audit/export/", {"format": "jsonl", "action": "card"})
    ).splitlines()
    assert len(lines) == 2
    table = b"".join(ada.get("/settings/audit/export/", {"format": "csv"})).decode()
    assert table.splitlines()[0].startswith("id,at,actor_id,actor_name")
    assert len(table.splitlines()) == 4


def test_who_has_the_export_can_compute_the_chain(ada: Client, project: Project) -> None:
    fill(project, 3)
    names = (
        "id",
        "prev_hash",
        "at",
        "actor_id",
        "actor_name",
        "project_id",
        "action",
        "object_type",
        "object_id",
        "data",
    )
    rows = [json.loads(line) for line in b"".join(ada.get("/settings/audit/export/")).splitlines()]
    before = rows[0]["prev_hash"]
    for row in rows:
        text = json.dumps([row[name] for name in names], sort_keys=True, separators=(",", ":"))
        assert row["prev_hash"] == before
        assert hashlib.sha256(text.encode()).hexdigest() == row["hash"]
        before = row["hash"]


def test_the_badge_says_what_the_last_verification_found(ada: Client, project: Project) -> None:
    fill(project, 2)
    assert "never verified" in text(ada.get("/settings/audit/"))
    assert "All 2 entries hold together" in text(ada.post("/settings/audit/verify/", follow=True))
    assert "chain verified" in text(ada.get("/settings/audit/"))
    assert AuditEntry.objects.count() == 2
