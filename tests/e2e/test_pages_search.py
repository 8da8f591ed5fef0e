"""Search from any page, by keyboard alone."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from runs.services import cards
from tests.e2e.browsing import Person, running, signed_in
from tests.live_service import LiveService

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(180)]


@pytest.fixture
def person(page: Page, live_service_module: LiveService) -> Iterator[Person]:
    someone = signed_in(page, live_service_module)
    yield someone
    assert someone.faults == []


def test_slash_finds_things_of_every_kind_and_the_keyboard_opens_one(person: Person) -> None:
    running(person, "alpha-7b", tags=["bf16"])
    cards.create_card(user=person.user, project=person.project, name="Alpha or beta")
    page = person.page
    person.open("/configs/")
    page.keyboard.press("/")
    page.keyboard.type("alpha")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Found for “alpha”")).to_be_visible()
    expect(page.locator("#main h2")).to_have_text(["Runs", "Cards"])
    expect(page.get_by_role("link", name="alpha-7b")).to_be_visible()
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="alpha-7b")).to_be_visible()


def test_a_tag_and_a_number_are_found_and_nothing_says_so(person: Person) -> None:
    sender = running(person, "tagged", tags=["bf16"])
    page = person.page
    for text in ("bf16", f"#{sender.attempt.run_id}"):
        person.open(f"/search/?q={text.replace('#', '%23')}")
        expect(page.get_by_role("link", name="tagged")).to_be_visible()
    person.open("/search/?q=nothing-like-it")
    expect(page.get_by_role("heading", name="Nothing matches")).to_be_visible()
    person.open("/search/")
    expect(
        page.get_by_role("heading", name="Search runs, cards, configs and checkpoints")
    ).to_be_visible()


def test_runs_are_tagged_archived_and_found_by_a_kept_view(person: Person) -> None:
    for name in ("old one", "new one"):
        attempt = running(person, name).attempt
        attempt.state, attempt.outcome, attempt.ended_at = "ended", "stopped", attempt.requested_at
        attempt.save()
    page = person.page
    person.open("/runs/")
    page.get_by_label("Choose old one").check()
    bar = page.locator("[data-selection]")
    bar.locator("summary").click()
    bar.get_by_label("Add tags").fill("done, slow")
    bar.get_by_role("button", name="Label").click()
    expect(page.get_by_role("status").filter(has_text="Labelled 1 run.")).to_be_visible()
    page.get_by_label("Choose old one").check()
    bar.get_by_role("button", name="Archive").click()
    expect(page.get_by_role("link", name="old one")).to_have_count(0)
    page.get_by_label("Archive", exact=True).select_option("archived")
    expect(page.get_by_role("link", name="old one")).to_be_visible()
    labels = page.locator(".run-labels")
    expect(labels).to_contain_text("archived")
    expect(labels.get_by_role("link")).to_have_text(["done", "slow"])
    page.get_by_text("Keep this view").click()
    page.get_by_label("Name", exact=True).fill("the archive")
    page.get_by_role("button", name="Keep", exact=True).click()
    person.open("/runs/")
    page.get_by_role("link", name="the archive").click()
    expect(page.get_by_role("link", name="old one")).to_be_visible()
