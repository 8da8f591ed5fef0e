"""What a person has typed, opened or focused stays, while a page follows what happens and while a session ends."""

from collections.abc import Iterator

import pytest
from django.conf import settings
from django.utils import timezone
from playwright.sync_api import Page, expect

from controlplane.common.models import Membership, Role
from runs.models import Card, Run
from runs.services import cards
from tests.checkpoints.makers import make_checkpoint
from tests.e2e.browsing import Person, running, signed_in
from tests.factories import make_config, make_project, make_run
from tests.live_service import LiveService

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(180)]


@pytest.fixture
def person(page: Page, live_service_module: LiveService) -> Iterator[Person]:
    someone = signed_in(page, live_service_module, Role.ADMIN)
    yield someone
    assert [fault for fault in someone.faults if "401" not in fault] == []


def test_an_act_is_asked_about_once_however_long_the_page_was_open(person: Person) -> None:
    page = person.page
    page.clock.install()
    person.open("/settings/project/")
    page.clock.run_for(120_000)
    page.get_by_role("button", name="Archive").click()
    page.get_by_role("dialog").get_by_role("button", name="Archive").click()
    expect(page.get_by_text("is archived: it can be read")).to_be_visible()


def test_a_form_is_not_lost_to_a_session_that_began_in_another_tab(person: Person) -> None:
    page = person.page
    person.open("/cards/new/")
    page.get_by_label("Name").fill("typed with care")
    other = page.context.new_page()
    other.goto(person.service.url + "/settings/account/")
    other.get_by_text(str(person.user), exact=True).first.click()
    other.get_by_role("button", name="Sign out", exact=True).click()
    other.get_by_label("User name").fill(person.user.username)
    other.get_by_label("Password").fill("only for tests")
    other.get_by_role("button", name="Sign in").click()
    expect(other.get_by_role("heading", name="Runs", exact=True)).to_be_visible()
    page.get_by_role("button", name="Write the card").click()
    expect(page.get_by_text("do it once more")).to_be_visible()
    expect(page.get_by_label("Name")).to_have_value("typed with care")
    page.get_by_role("button", name="Write the card").click()
    expect(page.get_by_role("heading", name="typed with care")).to_be_visible()
    assert Card.objects.filter(name="typed with care").exists()


def test_a_card_stays_on_the_page_when_the_session_has_ended(person: Person) -> None:
    page = person.page
    page.clock.install()
    card = cards.create_card(user=person.user, project=person.project, name="kept")
    person.open(f"/cards/{card.pk}/")
    with page.expect_response("**/cards/estimate/"):
        page.get_by_label("Question").fill("Is it lost?")
        page.clock.run_for(1000)
    # An answer that the page takes later would count as a sign of the session's life.
    expect(page.locator(".htmx-request")).to_have_count(0)
    page.clock.run_for(120_000)
    page.context.clear_cookies(name=settings.SESSION_COOKIE_NAME)
    page.get_by_role("button", name="Keep the changes").click()
    expect(page.get_by_role("dialog", name="You are signed out")).to_be_visible()
    expect(page.get_by_label("Question")).to_have_value("Is it lost?")


def test_the_focus_stays_on_its_line_while_the_list_follows(person: Person) -> None:
    sender, page = running(person, "busy"), person.page
    person.open("/runs/")
    page.get_by_role("link", name="busy").focus()
    for step in range(2, 5):
        sender.send()
        expect(page.locator(".cell-progress data").first).to_have_text(
            str(step - 1), timeout=10_000
        )
        expect(page.get_by_role("link", name="busy")).to_be_focused()


def test_an_open_menu_of_the_header_stays_open(person: Person) -> None:
    sender, page = running(person, "busy"), person.page
    page.clock.install()
    person.open(f"/runs/{sender.attempt.run_id}/")
    page.get_by_text("More", exact=True).click()
    for _ in range(3):
        sender.send()
        page.clock.run_for(6000)
        page.wait_for_timeout(300)
    expect(page.get_by_role("link", name="Name, group, tags, notes")).to_be_visible()
    page.keyboard.press("Escape")
    page.clock.run_for(6000)
    expect(page.locator("[data-live-step]")).to_contain_text("3")


def test_the_focus_stays_on_the_tab_that_was_opened(person: Person) -> None:
    page, run = person.page, running(person, "busy").attempt.run
    person.open(f"/runs/{run.pk}/")
    page.get_by_role("link", name="Attempts").focus()
    page.keyboard.press("Enter")
    expect(page.locator("[data-tab=attempts]")).to_be_visible()
    expect(page.get_by_role("link", name="Attempts")).to_be_focused()


def test_a_name_typed_before_another_config_is_chosen_stays(person: Person) -> None:
    first, second = (make_config(project=person.project, created_by=person.user) for _ in range(2))
    page = person.page
    person.open("/runs/new/")
    page.get_by_label("Name of the run").fill("my name for it")
    page.get_by_label("Config").select_option(str(first.pk))
    expect(page.get_by_label("Config")).to_have_value(str(first.pk))
    page.wait_for_url(f"**/runs/new/?config={first.pk}*")
    expect(page.get_by_label("Name of the run")).to_have_value("my name for it")
    assert second.pk != first.pk
    assert not Run.objects.filter(project=person.project).exists()


def test_a_page_acts_on_the_project_that_it_names(person: Person) -> None:
    page, other = person.page, make_project()
    Membership.objects.create(project=other, user=person.user, role=Role.ADMIN)
    person.open("/settings/project/")
    heading = page.get_by_role("heading", level=1).inner_text()
    elsewhere = page.context.new_page()
    elsewhere.goto(person.service.url + "/settings/project/")
    elsewhere.locator(".topbar summary").first.click()
    name = other.name if heading != other.name else person.project.name
    elsewhere.get_by_role("button", name=name, exact=True).click()
    expect(elsewhere.get_by_role("heading", name="Runs", exact=True)).to_be_visible()
    page.get_by_role("button", name="Archive").click()
    page.get_by_role("dialog").get_by_role("button", name="Archive").click()
    expect(page.get_by_text(f"Project {heading} is archived")).to_be_visible()


def test_enter_applies_the_filters_of_a_form_with_several_fields(person: Person) -> None:
    page = person.page
    person.open("/settings/audit/")
    # A browser that does not know the event `search`, as Firefox.
    page.evaluate("addEventListener('search', (event) => event.stopImmediatePropagation(), true)")
    page.get_by_label("Filter by user name").fill("nobody")
    page.keyboard.press("Enter")
    expect(page.get_by_text("No such entry")).to_be_visible()


def test_an_answered_question_is_acted_on_though_the_page_asked_again_meanwhile(
    person: Person,
) -> None:
    run = make_run(config=make_config(project=person.project, created_by=person.user), name="again")
    checkpoint, page = make_checkpoint(run=run), person.page
    run.attempts.update(state="ended", outcome="stopped", ended_at=timezone.now())
    person.open(f"/checkpoints/{checkpoint.pk}/")
    page.get_by_role("button", name="Resume from here").click()
    # What is evaluated is a promise, kept once the answer was dealt with.
    with page.expect_response("**/proof/"):
        page.evaluate(
            f"htmx.ajax('GET', '/checkpoints/{checkpoint.pk}/proof/', '#checkpoint-proof')"
        )
    with page.expect_request("**/resume/"):
        page.get_by_role("dialog").get_by_role("button", name="Resume from here").click()
