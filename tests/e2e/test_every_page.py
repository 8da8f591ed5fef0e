"""What holds on every page: nothing serious for axe-core in either theme, a phone's width, a quiet console."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from controlplane.common.models import Role
from tests.e2e.browsing import Person, signed_in
from tests.e2e.pages import MISSING_PAGE, pages_of
from tests.live_service import LiveService
from tests.waiting import wait_until

pytestmark = [pytest.mark.e2e, pytest.mark.slow(40), pytest.mark.timeout(600)]
AXE = Path(__file__).parents[2] / "node_modules/axe-core/axe.min.js"
DESK, PHONE = {"width": 1440, "height": 900}, {"width": 390, "height": 844}
ALL = '["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice"]'
SETTLED = """!document.querySelector(".htmx-request") && ![...document.querySelectorAll(
  "[data-panel]:not([data-empty]) [data-canvas]:not([data-drawn])")].some((canvas) => canvas.offsetParent)"""
# The only rules that see colours.
OF_COLOUR = '{type: "rule", values: ["color-contrast", "link-in-text-block"]}'


@pytest.fixture
def person(page: Page, live_service_module: LiveService) -> Iterator[Person]:
    someone = signed_in(page, live_service_module, Role.ADMIN)
    # What signing in wrote on the row must stay.
    type(someone.user).objects.filter(pk=someone.user.pk).update(is_superuser=True)
    yield someone
    assert someone.faults == []


def judged(page: Page, rules: str = ALL) -> list[str]:
    """Return what is serious on the open page: rule, and the first elements that break it."""
    if not page.evaluate("Boolean(window.axe)"):
        page.evaluate(AXE.read_text())
    ask = f"axe.run(document, {{runOnly: {rules}, resultTypes: ['violations']}})"
    found: list[dict[str, Any]] = page.evaluate(ask)["violations"]
    return [
        f"{one['id']}: {[node['html'][:160] for node in one['nodes'][:3]]} {one['nodes'][0]['failureSummary'][:300]}"
        for one in found
        if one["impact"] in {"serious", "critical"}
    ]


def faults_of(page: Page) -> Iterator[str]:
    """Judge the open page on a desk in both themes, then on a phone."""
    for theme, rules in (("dark", OF_COLOUR), ("light", ALL)):
        page.emulate_media(color_scheme=theme, reduced_motion="reduce")  # type: ignore[arg-type]
        expect(page.locator("html")).to_have_attribute("data-bs-theme", theme)
        yield from (f"{theme}: {fault}" for fault in judged(page, rules))
    page.set_viewport_size(PHONE)  # type: ignore[arg-type]
    wide = page.evaluate("document.documentElement.scrollWidth") - PHONE["width"]
    if wide > 0:
        yield f"it is {wide} px too wide for a phone"
    page.set_viewport_size(DESK)  # type: ignore[arg-type]


def test_every_page_is_sound(person: Person) -> None:
    page = person.page
    page.set_viewport_size(DESK)  # type: ignore[arg-type]
    pages, faults = pages_of(person), {}
    assert len(pages) > 30, pages
    for address in pages:
        person.open(address)
        wait_until(lambda: page.evaluate(SETTLED), message=address)
        if found := list(faults_of(page)):
            faults[address] = found
        if address == MISSING_PAGE:
            person.faults.clear()  # the browser tells of every 404
    told = "\n".join(f"{address}\n  " + "\n  ".join(found) for address, found in faults.items())
    assert not faults, f"of {len(pages)} pages:\n{told}"


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_way_in_has_no_serious_finding(
    page: Page, live_service_module: LiveService, theme: str
) -> None:
    page.emulate_media(color_scheme=theme)  # type: ignore[arg-type]
    page.goto(f"{live_service_module.url}/sign-in")
    assert judged(page) == []
