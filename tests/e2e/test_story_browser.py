"""The whole story as a new user lives it, in a browser, with the real worker, torchrun, trainer and disk."""

import re
from itertools import islice
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from controlplane.common.models import Role
from runs.models import Run
from safehold.config import parse, to_toml
from tests.e2e.browsing import Person, newcomer, sign_in
from tests.live_service import LiveService
from tests.safehold.reference.launching import paced

pytestmark = [pytest.mark.e2e, pytest.mark.slow(50), pytest.mark.timeout(420)]
# A trainer imports torch in two processes on two shared cores before its first step.
START_MS = 120_000


@pytest.fixture
def toml(live_service: LiveService, tmp_path: Path) -> str:
    """A config of the reference trainer on a small real corpus, long enough to be stopped in its middle."""
    from safehold.reference.config import demo_config
    from safehold.reference.corpus import prepare
    from safehold.reference.sources import texts

    prepared = prepare(tmp_path / "corpus", source=islice(texts(), 60))
    document = demo_config(prepared, root=live_service.home / "checkpoints", steps=4000)
    document["network"] |= {"layers": 2, "hidden": 64}
    document["checkpoint"] |= {"anchor_every_steps": 20, "snapshot_every_steps": 0}
    document["code"] = paced()
    return to_toml(parse(document))


def test_the_story_in_the_browser(page: Page, live_service: LiveService, toml: str) -> None:
    person = newcomer(page, live_service, Role.OPERATOR)
    sign_in(person)
    card_name = _write_a_card(person)
    _see_what_cannot_work_refused(person, toml)
    _keep_the_config(person, toml, card_name)
    run = _launch(person)
    _watch_it_learn(person)
    _stop_and_resume(person, run)
    step = _look_at_the_registry(person, run)
    _fork(person, run, step)
    assert person.faults == []


def _write_a_card(person: Person) -> str:
    page = person.page
    page.get_by_role("link", name="Cards").click()
    page.get_by_role("link", name="Write a card").first.click()
    page.get_by_label("Name").fill("Small but honest")
    page.get_by_label("Parameters (N)", exact=True).fill("70e9")
    page.get_by_label("Tokens seen (D)").fill("100000000000")
    page.get_by_label("Peak per device").fill("300")
    page.get_by_label("MFU").fill("0.5")
    expect(page.locator("[data-device-days]")).to_have_text("3,241")
    # Its four agreements: without one of them nothing of it may start.
    page.get_by_label("Task form").select_option("open_generation")
    page.get_by_label("Acceptance metrics").fill("loss val <= 6")
    page.get_by_label("Devices", exact=True).fill("512")
    page.get_by_role("button", name="Write the card").click()
    expect(page.get_by_role("heading", name="Small but honest")).to_be_visible()
    return "Small but honest"


def _see_what_cannot_work_refused(person: Person, toml: str) -> None:
    """A wrong type is told while typing; another tokenizer is found by preflight at the launch."""
    page = person.page
    page.get_by_role("link", name="Write a config for it").click()
    page.get_by_role("textbox", name="TOML").fill(re.sub(r"(?m)^lr = .*$", 'lr = "fast"', toml))
    expect(page.locator("#config-verdict")).to_contain_text("optimizer.lr")
    expect(page.locator("#f-optimizer-lr-faults")).to_contain_text("fast")
    wrong_lock = re.sub(r"(?m)^digest = .*$", f'digest = "blake3:{"0" * 64}"', toml)
    page.get_by_role("textbox", name="TOML").fill(wrong_lock)
    expect(page.locator("#config-verdict")).to_contain_text("Every field is sound")
    page.get_by_role("button", name="Keep this config").click()
    page.get_by_role("link", name="Launch").click()
    page.get_by_role("button", name="Launch").click()
    expect(page.locator("[data-finding='TOK-1.lock']")).to_be_visible()
    assert not Run.objects.exists()


def _keep_the_config(person: Person, toml: str, card_name: str) -> None:
    page = person.page
    person.open("/configs/new/")
    page.get_by_role("textbox", name="TOML").fill(toml)
    page.locator("select[name=card]").select_option(label=card_name)
    # The form side answers too, and the TOML follows.
    page.locator("#f-name").fill("story")
    expect(page.get_by_role("textbox", name="TOML")).to_have_value(re.compile('name = "story"'))
    page.get_by_role("button", name="Keep this config").click()
    expect(page.get_by_role("heading", name="story")).to_be_visible()


def _launch(person: Person) -> Run:
    page = person.page
    page.get_by_role("link", name="Launch").click()
    page.get_by_label("Name of the run").fill("the run of the story")
    page.get_by_role("button", name="Launch").click()
    expect(page.get_by_role("heading", name="the run of the story")).to_be_visible()
    return Run.objects.get()


def _watch_it_learn(person: Person) -> None:
    """The page that was open before the first step draws the curves as they come."""
    page = person.page
    expect(page.locator("[data-run-state='running']")).to_be_visible(timeout=START_MS)
    loss = page.locator("[data-panel]").first.locator("[data-readings]")
    expect(loss).to_contain_text("train", timeout=START_MS)
    expect(page.locator("[data-canvas][data-drawn]").first).to_be_visible()
    before = loss.inner_text()
    expect(loss).not_to_have_text(before, timeout=20_000)
    page.get_by_role("link", name="Logs").click()
    expect(page.locator("[data-log-text]")).not_to_have_text("", timeout=20_000)


def _stop_and_resume(person: Person, run: Run) -> None:
    page = person.page
    person.open(f"/runs/{run.pk}/")
    expect(page.locator("[data-run-state]")).to_contain_text(
        re.compile(r"Checkpoint\s*\d+"), timeout=START_MS
    )
    page.get_by_role("button", name="Stop", exact=True).click()
    page.get_by_role("dialog").get_by_role("button", name="Stop").click()
    expect(page.locator("[data-run-state='stopped']")).to_be_visible(timeout=60_000)
    run.refresh_from_db()
    stopped_at = run.step or 0
    page.get_by_role("button", name="Resume").click()
    expect(page.locator("[data-run-state='running']")).to_be_visible(timeout=START_MS)
    page.get_by_role("link", name="Attempts").click()
    expect(page.locator("#run-tab tbody tr")).to_have_count(2)
    expect(page.locator("#run-tab tbody tr").first).to_contain_text(f"step {stopped_at}")
    page.get_by_role("link", name="Live").click()
    expect(page.locator("[data-panel]").first.locator("[data-readings]")).to_contain_text(
        "train", timeout=START_MS
    )


def _look_at_the_registry(person: Person, run: Run) -> int:
    page = person.page
    page.get_by_role("link", name="Checkpoints", exact=True).last.click()
    line = page.locator(
        "[data-checkpoint]", has=page.locator("[data-state=verified], [data-state=stable]")
    ).last
    expect(line).to_be_visible(timeout=60_000)
    line.locator("[data-row-link]").click()
    expect(page.get_by_role("heading", name="Lineage")).to_be_visible()
    expect(page.locator("#checkpoint-proof")).to_contain_text(re.compile("Verified|Stable"))
    expect(page.locator("[data-lineage]")).to_contain_text(run.name)
    return int(page.url.rstrip("/").rsplit("/", 1)[1])


def _fork(person: Person, run: Run, checkpoint: int) -> None:
    page = person.page
    person.open(f"/checkpoints/{checkpoint}/fork/")
    page.get_by_label("Name").fill("the fork")
    page.get_by_role("button", name="Fork").click()
    expect(page.get_by_role("heading", name="the fork")).to_be_visible()
    expect(page.locator(".run-origin")).to_contain_text(f"forked from #{run.pk}")
    expect(page.locator("[data-run-state='running']")).to_be_visible(timeout=START_MS)
    page.get_by_role("button", name="Force stop").click()
    page.get_by_role("dialog").get_by_role("button", name="Force stop").click()
    expect(page.locator("[data-run-state='stopped'], [data-run-state='failed']")).to_be_visible(
        timeout=60_000
    )
    person.open("/runs/")
    expect(page.get_by_role("link", name="the fork")).to_be_visible()
