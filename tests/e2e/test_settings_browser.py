"""Settings in a real browser: a member is added, a token is made and shown once, the trail is read, a session ends."""

import re
from collections.abc import Iterator

import httpx
import pytest
from django.contrib.sessions.models import Session
from playwright.sync_api import Page, expect

from controlplane.common.models import Role
from tests.e2e.browsing import PASSWORD, Person, signed_in
from tests.factories import make_user
from tests.live_service import LiveService

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(180)]


@pytest.fixture
def admin(page: Page, live_service_module: LiveService) -> Iterator[Person]:
    someone = signed_in(page, live_service_module, Role.ADMIN)
    yield someone
    assert [fault for fault in someone.faults if "401" not in fault] == []


def test_a_member_is_added_and_made_an_approver(admin: Person) -> None:
    page, other = admin.page, make_user()
    admin.open("/runs/")
    page.get_by_role("link", name="Settings").click()
    page.get_by_role("navigation", name="Settings").get_by_role("link", name="Members").click()
    page.get_by_label("User name").fill(other.username)
    page.get_by_label("Role", exact=True).select_option("operator")
    page.get_by_role("button", name="Add").click()
    expect(page.get_by_role("status").first).to_contain_text(f"{other.username} is now operator")
    row = page.get_by_role("row", name=re.compile(other.username))
    row.get_by_role("combobox").select_option("approver")
    row.get_by_role("button", name="Change").click()
    expect(page.get_by_role("status").first).to_contain_text("is now approver")
    page.get_by_role("row", name=re.compile(other.username)).get_by_role(
        "button", name="Remove"
    ).click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text(f"Remove {other.username} from {admin.project.name}?")
    dialog.get_by_role("button", name="Remove").click()
    expect(page.get_by_role("row", name=re.compile(other.username))).to_have_count(0)


def test_a_token_is_shown_once_works_and_is_revoked(admin: Person) -> None:
    page = admin.page
    admin.open("/settings/tokens/")
    page.get_by_label("Name", exact=True).fill("laptop")
    page.get_by_role("checkbox", name=re.compile("launch and stop runs")).check()
    page.get_by_role("button", name="Make the token").click()
    secret = page.get_by_label("The token").input_value()
    assert secret.startswith("shp_")
    me = f"{admin.service.url}/api/v1/me"
    headers = {"Authorization": f"Bearer {secret}"}
    assert httpx.get(me, headers=headers).json()["token"]["scopes"] == ["read", "run"]
    admin.open("/settings/tokens/")
    assert secret not in page.content()
    page.get_by_role("row", name=re.compile("laptop")).get_by_role("button", name="Revoke").click()
    page.get_by_role("dialog").get_by_role("button", name="Revoke").click()
    expect(page.get_by_role("row", name=re.compile("laptop"))).to_contain_text("revoked")
    assert httpx.get(me, headers=headers).status_code == 401


def test_the_trail_is_read_filtered_and_verified(admin: Person) -> None:
    page, other = admin.page, make_user()
    admin.open("/settings/members/")
    page.get_by_label("User name").fill(other.username)
    page.get_by_role("button", name="Add").click()
    admin.open("/settings/audit/")
    expect(page.get_by_role("row", name=re.compile("Add a member"))).to_contain_text(other.username)
    page.get_by_label("Filter by act").select_option("run")
    expect(page.get_by_role("heading", name="No such entry")).to_be_visible()
    assert "action=run" in page.url
    admin.open("/settings/audit/")
    page.get_by_role("button", name="Verify now").click()
    expect(page.get_by_text("chain verified")).to_be_visible()


def test_a_session_that_ends_under_a_form_loses_nothing_typed(admin: Person) -> None:
    page = admin.page
    admin.open("/settings/members/")
    page.get_by_label("User name").fill("half a na")
    Session.objects.all().delete()
    page.evaluate("document.dispatchEvent(new CustomEvent('safehold:signed-out'))")
    dialog = page.get_by_role("dialog", name="You are signed out")
    with page.context.expect_page() as opened:
        dialog.get_by_role("link", name="Sign in again").click()
    second = opened.value
    second.get_by_label("User name").fill(admin.user.username)
    second.get_by_label("Password").fill(PASSWORD)
    second.get_by_role("button", name="Sign in").click()
    expect(second.get_by_role("heading", name="You are signed in again")).to_be_visible()
    second.close()
    dialog.get_by_role("button", name="Go on").click()
    expect(dialog).to_be_hidden()
    expect(page.get_by_label("User name")).to_have_value("half a na")
    page.get_by_role("button", name="Add").click()
    expect(page.get_by_text("There is no active account 'half a na'")).to_be_visible()


def test_a_part_that_follows_tells_that_the_session_ended(admin: Person) -> None:
    page = admin.page
    admin.open("/cluster/")
    Session.objects.all().delete()
    page.evaluate("htmx.trigger('#clusters', 'refresh')")
    expect(page.get_by_role("dialog", name="You are signed out")).to_be_visible()
