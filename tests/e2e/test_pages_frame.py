"""The frame of every page: the keyboard, the themes, questions before acts, no script needed."""

from collections.abc import Iterator
from datetime import timedelta

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

from tests.e2e.browsing import Person, running, signed_in
from tests.live_service import LiveService

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(180)]


@pytest.fixture
def person(page: Page, live_service_module: LiveService) -> Iterator[Person]:
    someone = signed_in(page, live_service_module)
    yield someone
    assert someone.faults == []


def test_the_chosen_theme_is_kept(person: Person) -> None:
    person.open("/")
    person.page.get_by_role("button", name="Switch between light and dark").click()
    chosen = person.page.locator("html").get_attribute("data-bs-theme")
    person.open("/cards/")
    expect(person.page.locator("html")).to_have_attribute("data-bs-theme", chosen or "")


def test_the_keyboard_goes_everywhere(person: Person) -> None:
    first, second = running(person, "first run"), running(person, "second run")
    page = person.page
    person.open("/cards/")
    page.keyboard.press("g")
    page.keyboard.press("r")
    expect(page.get_by_role("heading", name="Runs", exact=True)).to_be_visible()
    page.keyboard.press("j")
    expect(page.locator(f"#run-{second.attempt.run_id}")).to_have_attribute("aria-selected", "true")
    page.keyboard.press("j")
    page.keyboard.press("k")
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="first run")).to_be_visible()
    assert page.url.endswith(f"/runs/{first.attempt.run_id}/")


def test_slash_searches_and_question_mark_helps(person: Person) -> None:
    running(person, "alpha")
    running(person, "beta")
    page = person.page
    person.open("/configs/")
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_contain_text("next and previous row")
    page.keyboard.press("Escape")
    page.keyboard.press("/")
    page.keyboard.type("alp")
    page.keyboard.press("Enter")
    expect(page.get_by_role("link", name="alpha")).to_be_visible()
    expect(page.get_by_role("link", name="beta")).to_have_count(0)


def test_stopping_asks_first_and_names_the_run(person: Person) -> None:
    sender = running(person, "precious")
    page = person.page
    person.open(f"/runs/{sender.attempt.run_id}/")
    page.get_by_role("button", name="Force stop").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("Force precious to stop?")
    expect(dialog).to_contain_text("is lost")
    dialog.get_by_role("button", name="Cancel").click()
    sender.attempt.run.refresh_from_db()
    assert sender.attempt.run.desired == "running"


def test_a_time_on_another_day_has_its_date(person: Person) -> None:
    run = running(person, "put away").attempt.run
    in_a_month = timezone.now() + timedelta(days=30)
    run.archived_at, run.delete_after = timezone.now(), in_a_month
    run.save(update_fields=["archived_at", "delete_after"])
    person.open(f"/runs/{run.pk}/")
    expect(person.page.locator(".run-header .notice")).to_contain_text(
        f"{in_a_month.month}/{in_a_month.day}/{in_a_month.year}"
    )


def test_acts_work_without_script(person: Person) -> None:
    sender = running(person, "plain")
    browser = person.page.context.browser
    assert browser is not None
    context = browser.new_context(
        java_script_enabled=False, storage_state=person.page.context.storage_state()
    )
    page = context.new_page()
    page.goto(f"{person.service.url}/runs/{sender.attempt.run_id}/")
    page.get_by_role("button", name="Pause").click()
    expect(page.get_by_role("status").first).to_contain_text("Pause asked for")
    context.close()
