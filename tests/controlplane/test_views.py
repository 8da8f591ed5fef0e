import pytest
from django.test import Client

from controlplane import views
from tests.factories import make_user


def test_signing_in_leads_to_the_runs(client: Client, db: None) -> None:
    make_user(username="ann", password="long enough")
    answer = client.post("/sign-in", {"username": "ann", "password": "long enough", "next": ""})
    assert answer["Location"] == "/"
    assert client.get("/")["Location"] == "/runs/"


def test_a_wrong_password_is_told_and_the_name_stays(client: Client, db: None) -> None:
    make_user(username="ann", password="long enough")
    page = client.post("/sign-in", {"username": "ann", "password": "wrong"}).content.decode()
    assert "Please enter a correct username and password" in page
    assert 'value="ann"' in page


def test_sign_in_goes_to_no_other_site(client: Client, db: None) -> None:
    make_user(username="ann", password="long enough")
    answer = client.post(
        "/sign-in", {"username": "ann", "password": "long enough", "next": "https://example.org/"}
    )
    assert answer["Location"] == "/"


def test_behind_https_only_people_are_redirected(client: Client, db: None, settings) -> None:
    settings.SECURE_SSL_REDIRECT = True
    for path in ("/sign-in", "/api/v1/runs", "/api/v1/checkpoints"):
        assert client.get(path).status_code == 301
    for path in ("ingest", "ingest/logs", "ingest/exit", "checkpoints/register"):
        assert client.post(f"/api/v1/{path}").status_code == 401


def test_signing_out_is_a_post(client: Client, db: None) -> None:
    client.force_login(make_user())
    answer = client.get("/sign-out")
    assert (answer.status_code, "POST" in answer["Allow"]) == (405, True)
    assert "only takes what a button sends" in answer.content.decode()
    assert client.post("/sign-out").status_code == 302


def test_an_unknown_page_says_so_in_our_frame(client: Client, db: None) -> None:
    client.force_login(make_user())
    answer = client.get("/nowhere/")
    assert answer.status_code == 404
    assert "no member of the project" in answer.content.decode()


def test_a_name_that_is_not_ours_is_told_with_the_way_on(client: Client, db: None) -> None:
    page = client.get("/sign-in", headers={"Host": "gpu-7.<lab>"})
    assert page.status_code == 400
    assert "<code>gpu-7.&lt;lab&gt;</code>" in page.content.decode()
    assert "SAFEHOLD_ALLOWED_HOSTS" in page.content.decode()
    problem = client.get("/api/v1/runs", headers={"Host": "gpu-7.lab"}).json()
    assert (problem["status"], problem["title"]) == (400, "Unknown host")
    assert "gpu-7.lab" in problem["detail"]
    assert "SAFEHOLD_ALLOWED_HOSTS" in problem["hint"]


def test_a_form_without_its_token_is_refused_with_a_way_on(db: None) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(make_user())
    answer = client.post("/projects/switch/")
    assert answer.status_code == 403
    assert "Reload the page" in answer.content.decode()


def test_our_own_failure_needs_neither_session_nor_database(rf: object) -> None:
    answer = views.server_error(rf.get("/"))  # type: ignore[attr-defined]
    assert answer.status_code == 500
    assert "Training goes on" in answer.content.decode()


@pytest.mark.parametrize("path", ["/sign-in", "/nowhere/"])
def test_pages_allow_no_inline_script_or_style(client: Client, db: None, path: str) -> None:
    client.force_login(make_user()) if path != "/sign-in" else None
    answer = client.get(path)
    assert "script-src 'self'" in answer["Content-Security-Policy"]
    page = answer.content.decode()
    assert "<style" not in page
    assert " style=" not in page
    assert "onclick" not in page
