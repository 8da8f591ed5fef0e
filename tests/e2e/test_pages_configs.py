"""Configs in the browser: rules beside the fields, approval by a second account, a difference read."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, Route, expect

from controlplane.common.models import Role, User
from runs.models import Approval, Config, Run
from runs.services import approvals, configs
from tests.e2e.browsing import PASSWORD, Person, signed_in
from tests.factories import make_user
from tests.live_service import LiveService
from tests.runs.corpus import documents_on
from tests.runs.proven import prove
from tests.waiting import wait_until

pytestmark = [pytest.mark.e2e, pytest.mark.slow(45), pytest.mark.timeout(240)]
PHONE = {"width": 390, "height": 844}


@pytest.fixture
def person(page: Page, live_service: LiveService) -> Iterator[Person]:
    someone = signed_in(page, live_service, Role.OPERATOR)
    yield someone
    assert someone.faults == []


@pytest.fixture
def stored(person: Person, tmp_path: Path) -> Callable[..., Config]:
    documents = documents_on(tmp_path)

    def stored(parent: Config | None = None, **changes: Any) -> Config:
        return configs.create_config(
            user=person.user, project=person.project, document=documents(**changes), parent=parent
        )

    return stored


def top_of(page: Page, label: str) -> float:
    """Return how far from the top of the document a field lies, wherever the page is scrolled to."""
    found: float = page.get_by_label(label, exact=True).evaluate(
        "field => field.getBoundingClientRect().top + window.scrollY"
    )
    return found


def test_a_finding_stands_beside_its_field_and_goes_when_it_is_fixed(
    person: Person, stored: Callable[..., Config]
) -> None:
    page, before = person.page, stored()
    person.open(f"/configs/new/?parent={before.pk}")
    verdict, beside = (
        page.locator("#config-verdict"),
        page.locator("#f-optimizer-weight_decay-faults"),
    )
    expect(verdict).to_contain_text("Every field is sound")
    place = top_of(page, "Gradient clip")
    page.get_by_label("Weight decay", exact=True).fill("0.3")
    expect(beside).to_contain_text("usual: 0.01–0.1")
    expect(verdict).to_contain_text("1 rule has something to say")
    page.locator("[data-rule-notes] summary").click()
    said = page.locator("[data-rule-notes] li")
    expect(said).to_contain_text("Above it weights shrink faster than they learn")
    assert top_of(page, "Gradient clip") == place  # the page did not jump
    page.get_by_label("Weight decay", exact=True).fill("0.4")
    expect(said).to_contain_text("The weight decay is 0.4")
    expect(said).to_be_visible()  # and what was opened stays open
    expect(page.get_by_label("TOML", exact=True)).to_have_value(anywhere("weight_decay = 0.4"))
    page.get_by_label("Weight decay", exact=True).fill("0.05")
    expect(beside).to_be_empty()
    expect(verdict).to_contain_text("Every field is sound")
    page.get_by_role("button", name="Keep this config").click()
    expect(page.get_by_text("one variable changed: Weight decay")).to_be_visible()
    newest = Config.objects.filter(parent=before).get()
    assert newest.document["optimizer"]["weight_decay"] == 0.05


def test_step_counts_follow_the_accumulation_at_a_click(
    person: Person, stored: Callable[..., Config]
) -> None:
    page = person.page
    before = stored(train__steps=1000, optimizer__warmup_steps=20)
    person.open(f"/configs/new/?parent={before.pk}")
    page.get_by_label("Global batch", exact=False).first.fill("16")
    page.get_by_label("Accumulation", exact=True).fill("2")
    beside = page.locator("#f-train-steps-faults")
    expect(beside).to_contain_text("as many tokens: steps 500, warmup_steps 10")
    beside.get_by_role("button", name="set").click()
    expect(page.get_by_label("Warmup", exact=True)).to_have_value("10")
    expect(beside).to_be_empty()
    expect(page.get_by_label("TOML", exact=True)).to_have_value(anywhere("steps = 500"))


@pytest.mark.parametrize(
    ("label", "text", "side"),
    [("TOML", '[optimizer]\nlr = "fast"', "toml"), ("Weight decay", "fast", "form")],
    ids=["TOML", "form"],
)
def test_what_is_typed_before_the_scripts_have_come_is_checked_and_counts(
    person: Person, label: str, text: str, side: str
) -> None:
    page, held = person.page, list[Route]()
    page.route("**/config_sides*.js", lambda route: held.append(route))
    page.goto(f"{person.service.url}/configs/new/", wait_until="commit")
    page.get_by_label(label, exact=True).fill(text)
    wait_until(lambda: bool(held))
    held[0].continue_()
    expect(page.locator("#config-verdict")).to_contain_text("optimizer")
    expect(page.locator("[data-side]")).to_have_value(side)


def anywhere(text: str) -> re.Pattern[str]:
    """Return a pattern that finds the text anywhere in a value."""
    return re.compile(re.escape(text))


def test_production_is_approved_by_a_second_account(
    person: Person, stored: Callable[..., Config]
) -> None:
    page, config = person.page, prove(stored(kind="production"))
    approver = make_user(Role.APPROVER, person.project, password=PASSWORD)
    person.open(f"/configs/{config.pk}/")
    page.get_by_role("button", name="Freeze").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text(f"Freeze {config.name}?")
    dialog.get_by_role("button", name="Freeze").click()
    expect(page.get_by_text("The config is frozen")).to_be_visible()
    page.get_by_label("What the approver should know").fill("For the long run.")
    page.get_by_role("button", name="Ask for approval").click()
    expect(page.get_by_text("Another person has to approve it")).to_be_visible()
    expect(page.get_by_role("button", name="Approve")).to_have_count(0)
    other = as_another(person, approver)
    other.goto(f"{person.service.url}/configs/{config.pk}/")
    expect(other.get_by_text("For the long run.")).to_be_visible()
    other.get_by_label("What you looked at, or what has to change").fill("Rate and data are right.")
    expect(other.locator("[data-approval-verdict]")).to_contain_text("Nothing blocks the approval.")
    other.get_by_role("button", name="Approve").click()
    asking = other.get_by_role("dialog")
    expect(asking).to_contain_text(f"Approve {config.name}?")
    expect(asking).to_contain_text(config.short_hash)
    asking.get_by_role("button", name="Cancel").click()
    assert Approval.objects.get(config=config).state == "requested"
    other.get_by_role("button", name="Approve").click()
    asking.get_by_role("button", name="Approve").click()
    expect(other.get_by_text("The config is approved.")).to_be_visible()
    other.context.close()
    page.reload()
    expect(page.locator("[data-approval]")).to_contain_text("Rate and data are right.")
    given = Approval.objects.get(config=config)
    assert (given.state, given.decided_by, given.requested_by) == (
        "approved",
        approver,
        person.user,
    )


def as_another(person: Person, user: User) -> Page:
    """Return a page of another browser in which this user has signed in."""
    browser = person.page.context.browser
    assert browser is not None
    page = browser.new_context().new_page()
    page.goto(person.service.url)
    page.get_by_label("User name").fill(user.username)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("heading", name="Runs", exact=True)).to_be_visible()
    return page


def test_a_difference_is_read_and_its_reason_asked_for(
    person: Person, stored: Callable[..., Config]
) -> None:
    page, before = person.page, stored()
    after = stored(
        parent=before, optimizer__lr=2e-4, optimizer__min_lr=2e-5, train__seed=7, name="two at once"
    )
    person.open(f"/configs/{after.pk}/diff/?with={before.pk}")
    expect(
        page.get_by_role("status").filter(has_text="More than one variable changed")
    ).to_contain_text("Peak learning rate, Seed")
    row = page.get_by_role("row").filter(has_text="optimizer.min_lr")
    expect(row).to_contain_text("It is the same share of the peak.")
    person.open(f"/runs/new/?config={after.pk}")
    page.get_by_role("button", name="Launch").click()
    expect(page.get_by_text("Say why more than one variable changes at once.")).to_be_visible()
    assert not Run.objects.filter(config=after).exists()
    page.get_by_label("Why more than one variable changes at once").fill("A new baseline.")
    page.get_by_role("button", name="Launch").click()
    expect(page.get_by_text("Launch of two at once asked for.")).to_be_visible()
    page.get_by_role("link", name="Config & proof").click()
    expect(page.locator("[data-proof-change]")).to_contain_text("A new baseline.")


def test_a_blocking_finding_stands_where_the_approval_would_be_given(
    person: Person, stored: Callable[..., Config]
) -> None:
    config = stored(kind="production")
    configs.freeze(user=person.user, config=config)
    approvals.request_approval(user=person.user, config=config)
    approver = make_user(Role.APPROVER, person.project, password=PASSWORD)
    other = as_another(person, approver)
    other.goto(f"{person.service.url}/configs/{config.pk}/")
    verdict = other.locator("[data-approval-verdict]")
    expect(verdict).to_contain_text("1 finding blocks the approval:")
    expect(verdict).to_contain_text("CONF-3.proven_batch_and_lr")
    expect(other.get_by_role("button", name="Approve")).to_have_count(0)
    expect(other.get_by_role("button", name="Refuse")).to_be_visible()
    other.context.close()


def test_broken_toml_is_never_written_over(person: Person, stored: Callable[..., Config]) -> None:
    page, before = person.page, stored()
    person.open(f"/configs/new/?parent={before.pk}")
    toml, form = page.get_by_label("TOML", exact=True), page.locator("[data-form-side]")
    sound = toml.input_value()
    # As a browser does where somebody drags the corner of a field: the content policy must not see it again.
    page.get_by_label("Command", exact=False).first.evaluate("it => { it.style.height = '90px'; }")
    with page.expect_response("**/configs/check/"):
        toml.fill(f"{sound}\n# mine\n")
    expect(page.locator("form.htmx-request")).to_have_count(0)
    toml.press("Control+End")
    toml.press_sequentially("[train")
    stale = page.locator("[data-form-stale]")
    expect(stale).to_contain_text("The form is out of date: the TOML cannot be read.")
    assert form.evaluate("side => side.inert")
    page.get_by_role("button", name="Restore the last readable document").click()
    expect(stale).to_have_count(0)
    expect(toml).to_have_value(anywhere("# mine"))
    page.get_by_role("button", name="Take back the last change").click()
    expect(toml).to_have_value(f"{sound}\n# mine\n[train")
    expect(stale).to_be_visible()
    toml.press("Control+End")
    for _ in "[train":
        toml.press("Backspace")
    expect(stale).to_have_count(0)
    page.get_by_label("Seed", exact=True).fill("77")
    expect(toml).to_have_value(anywhere("seed = 77"))
    expect(toml).to_have_value(anywhere("# mine"))  # and a change in the form leaves comments
    page.get_by_role("button", name="Keep this config").click()
    expect(page.locator("details .written")).to_contain_text("# mine")
    assert Config.objects.filter(parent=before).get().document["train"]["seed"] == 77


def test_what_was_typed_and_not_kept_is_offered_again(
    person: Person, stored: Callable[..., Config]
) -> None:
    page, before = person.page, stored()
    address = f"/configs/new/?parent={before.pk}"
    person.open(address)
    toml, offer = page.get_by_label("TOML", exact=True), page.locator("[data-draft]")
    expect(offer).to_be_hidden()
    toml.press("Control+End")
    toml.press_sequentially("\n# half a thought")
    person.open("/configs/")
    person.open(address)
    expect(offer).to_be_visible()
    page.get_by_role("button", name="Bring it back").click()
    expect(toml).to_have_value(anywhere("# half a thought"))
    expect(page.locator("#config-verdict")).to_contain_text("Every field is sound")
    page.get_by_role("button", name="Keep this config").click()
    expect(page.get_by_text("was kept.")).to_be_visible()
    person.open(address)
    expect(offer).to_be_hidden()


def test_the_pages_fit_a_phone(person: Person, stored: Callable[..., Config]) -> None:
    page, config = person.page, stored(kind="production")
    page.set_viewport_size(PHONE)
    for path in (
        f"/configs/{config.pk}/",
        "/configs/new/",
        "/settings/rulebook/",
        f"/configs/{config.pk}/diff/",
    ):
        person.open(path)
        assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"], path
