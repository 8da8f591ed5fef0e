"""axe-core has nothing serious to say of any page, in either theme."""

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from controlplane.common.models import Role
from tests.e2e.browsing import Person, signed_in
from tests.e2e.pages import pages_of
from tests.live_service import LiveService

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(600)]
AXE = Path(__file__).parents[2] / "node_modules/axe-core/axe.min.js"
RUN = """() => axe.run(document, {
  runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice"],
  resultTypes: ["violations"],
})"""


@pytest.fixture
def person(page: Page, live_service_module: LiveService) -> Person:
    someone = signed_in(page, live_service_module, Role.ADMIN)
    # What signing in wrote on the row must stay.
    type(someone.user).objects.filter(pk=someone.user.pk).update(is_superuser=True)
    return someone


def judged(page: Page) -> list[str]:
    """Return what is serious on the open page: rule, and the first elements that break it."""
    page.evaluate(AXE.read_text())
    found: list[dict[str, Any]] = page.evaluate(RUN)["violations"]
    return [
        f"{one['id']}: {[node['html'][:160] for node in one['nodes'][:3]]} {one['nodes'][0]['failureSummary'][:300]}"
        for one in found
        if one["impact"] in {"serious", "critical"}
    ]


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_no_page_has_a_serious_finding(person: Person, theme: str) -> None:
    person.page.emulate_media(color_scheme=theme, reduced_motion="reduce")
    pages, faults = pages_of(person), {}
    assert len(pages) > 30, pages
    for address in pages:
        person.open(address)
        expect(person.page.locator("html")).to_have_attribute("data-bs-theme", theme)
        person.page.wait_for_load_state("networkidle")
        if found := judged(person.page):
            faults[address] = found
    told = "\n".join(f"{address}\n  " + "\n  ".join(found) for address, found in faults.items())
    assert not faults, f"of {len(pages)} pages:\n{told}"


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_way_in_has_no_serious_finding(
    page: Page, live_service_module: LiveService, theme: str
) -> None:
    page.emulate_media(color_scheme=theme)
    page.goto(f"{live_service_module.url}/sign-in")
    assert judged(page) == []
