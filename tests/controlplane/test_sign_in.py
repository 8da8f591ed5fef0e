"""Signing in with a password: throttled, ended after its time, listed, audited."""

import time
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from controlplane.common import sign_ins
from controlplane.common.models import AuditEntry, SignIn, User
from tests.factories import make_user

pytestmark = pytest.mark.django_db
PASSWORD = "long enough for anybody"


@pytest.fixture
def ann() -> User:
    return make_user(username="ann", password=PASSWORD)


def sign_in(client: Client, password: str = PASSWORD, **headers: str) -> Any:
    return client.post("/sign-in", {"username": "ann", "password": password}, headers=headers)


def test_guessing_is_stopped_for_a_while_even_for_the_right_password(
    ann: User, settings: Any
) -> None:
    settings.AXES_FAILURE_LIMIT = 3
    client = Client()
    answers = [sign_in(client, "wrong").status_code for _ in range(3)]
    assert answers[:2] == [200, 200]
    locked = sign_in(client)
    assert locked.status_code == 429
    assert locked["Retry-After"] == "900"
    assert "Try again in 15 minutes" in locked.content.decode()
    assert (
        Client(REMOTE_ADDR="10.0.0.9")
        .post("/sign-in", {"username": "ann", "password": PASSWORD})
        .status_code
        == 302
    )


def test_after_the_wait_the_password_works_again(
    ann: User, settings: Any, time_machine: Any
) -> None:
    settings.AXES_FAILURE_LIMIT = 2
    client = Client()
    for _ in range(2):
        sign_in(client, "wrong")
    assert sign_in(client).status_code == 429
    time_machine.move_to(timezone.now() + timedelta(seconds=901))
    assert sign_in(client).status_code == 302


def test_a_sign_in_and_its_end_are_audited_and_listed(ann: User, client: Client) -> None:
    sign_in(client, User_Agent="Firefox")
    known = SignIn.objects.get(user=ann)
    assert (known.browser, known.address) == ("Firefox", "127.0.0.1")
    client.post("/sign-out")
    assert not SignIn.objects.exists()
    acts = (
        AuditEntry.objects.filter(object_type="user")
        .order_by("pk")
        .values_list("action", flat=True)
    )
    assert list(acts) == ["person.sign_in", "person.sign_out"]


def test_a_sign_in_that_lasts_too_long_ends(ann: User, client: Client, settings: Any) -> None:
    client.force_login(ann)
    assert client.get("/cards/").status_code == 200
    session = client.session
    session[sign_ins.BEGAN_AT] = time.time() - settings.SAFEHOLD_SESSION_LONGEST_SECONDS - 1
    session.save()
    assert client.get("/cards/")["Location"] == "/sign-in?next=/cards/"
    assert not SignIn.objects.exists()


def test_use_is_noted_once_a_minute_and_renews_the_session(ann: User, client: Client) -> None:
    client.force_login(ann)
    long_ago = timezone.now() - timedelta(hours=2)
    SignIn.objects.update(seen_at=long_ago)
    client.get("/cards/")
    assert SignIn.objects.get().seen_at == long_ago
    session = client.session
    session[sign_ins.SEEN_AT] = time.time() - 61
    session.save()
    answer = client.get("/cards/")
    assert SignIn.objects.get().seen_at > long_ago
    assert "sessionid" in answer.cookies


def test_a_part_of_a_page_is_told_not_redirected(client: Client) -> None:
    answer = client.get("/runs/rows/", headers={"HX-Request": "true"})
    assert (answer.status_code, answer["X-Signed-Out"]) == (401, "1")


def test_after_a_form_sign_in_leads_back_to_the_page_of_the_form(client: Client) -> None:
    answer = client.post("/runs/1/stop/act/", headers={"Referer": "http://testserver/runs/1/?x=1"})
    assert answer["Location"] == "/sign-in?next=/runs/1/%3Fx%3D1"
    elsewhere = client.post("/runs/1/stop/act/", headers={"Referer": "http://other.example/a"})
    assert elsewhere["Location"] == "/sign-in?next=/"


def test_passwords_can_be_switched_off(ann: User, client: Client, settings: Any) -> None:
    settings.SAFEHOLD_PASSWORD_SIGN_IN = False
    assert 'name="password"' not in client.get("/sign-in").content.decode()
    assert sign_in(client).status_code == 403
    assert "_auth_user_id" not in client.session


def test_an_account_that_was_closed_is_out_at_once(ann: User, client: Client) -> None:
    client.force_login(ann)
    User.objects.update(is_active=False)
    assert client.get("/cards/").status_code == 302
