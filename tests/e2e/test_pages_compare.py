"""Runs laid over each other, and the flags on the curves of one."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import FloatRect, Locator, Page, expect

from runs.services import events
from tests.e2e.browsing import Person, running, signed_in
from tests.live_service import LiveService
from tests.waiting import wait_until

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(180)]
# How many pixels of a canvas have about the colour of a custom property.
PIXELS = """([selector, name]) => {
  const canvas = document.querySelector(selector);
  const probe = document.createElement("span");
  probe.style.color = `var(${name})`;
  document.body.append(probe);
  const [r, g, b] = getComputedStyle(probe).color.match(/[\\d.]+/g).map(Number);
  probe.remove();
  const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  let found = 0;
  for (let at = 0; at < data.length; at += 4) {
    if (data[at + 3] > 120 && Math.abs(data[at] - r) + Math.abs(data[at + 1] - g) + Math.abs(data[at + 2] - b) < 60) found += 1;
  }
  return found;
}"""
LOSS = "[data-panel][data-names='[\"train/loss\"]'] canvas"


@pytest.fixture
def person(page: Page, live_service_module: LiveService) -> Iterator[Person]:
    someone = signed_in(page, live_service_module)
    yield someone
    assert someone.faults == []


def place(element: Locator) -> FloatRect:
    """Return where an element is; a mark is made anew whenever its chart is drawn."""
    found = wait_until(element.bounding_box)
    assert found is not None
    return found


def pixels(person: Person, colour: str, selector: str = LOSS) -> int:
    """Return how much of a colour is drawn in a chart."""
    return int(person.page.evaluate(PIXELS, [selector, colour]))


def test_runs_are_chosen_by_key_and_box_and_laid_over_each_other(person: Person) -> None:
    for name, scale in (("first", 1.0), ("second", 2.0), ("third", 4.0)):
        running(person, name).send(200, train__loss=[scale * 1000 / step for step in range(1, 201)])
    page = person.page
    person.open("/runs/")
    page.keyboard.press("j")
    page.keyboard.press("x")
    bar = page.locator("[data-selection]")
    expect(bar).to_contain_text("1 chosen")
    expect(bar.get_by_role("button", name="Compare")).to_be_disabled()
    page.get_by_label("Choose first").check()
    bar.get_by_role("button", name="Compare").click()
    expect(page.get_by_role("heading", name="2 runs compared")).to_be_visible()
    expect(page.locator(LOSS)).to_be_visible()
    expect(page.locator("[data-readings]").first).to_contain_text("first")
    assert pixels(person, "--chart-1") > 50
    assert pixels(person, "--chart-2") > 50
    assert pixels(person, "--chart-3") == 0
    expect(page.locator("#compare-summary")).to_contain_text("train/loss")
    expect(page.locator("#compare-summary tbody tr")).to_have_count(2)


def test_a_run_is_hidden_and_the_raw_line_stays_under_its_smoothed_one(person: Person) -> None:
    senders = [running(person, name) for name in ("calm", "wild")]
    for sender, base in zip(senders, (5.0, 25.0), strict=True):
        sender.send(300, train__loss=[base + (step % 7) for step in range(300)])
    query = "&".join(f"run={sender.attempt.run_id}" for sender in senders)
    page = person.page
    person.open(f"/runs/compare/?{query}")
    expect(page.locator("[data-readings]").first).to_contain_text("wild")
    sharp = pixels(person, "--chart-1")
    page.locator("[data-smoothing]").fill("0.95")
    # One line through the middle instead of a comb.
    wait_until(lambda: 0 < pixels(person, "--chart-1") < sharp)
    faded = page.evaluate(
        "document.querySelector('[data-panel]').figure.drawn.styles.map((style) => Boolean(style.isExtra))"
    )
    assert faded == [True, False, True, False]
    page.get_by_label("Show wild").uncheck()
    expect(page.locator("[data-readings]").first).not_to_contain_text("wild")
    assert pixels(person, "--chart-2") == 0
    page.get_by_text("Log scale").click()
    scale = "document.querySelector('[data-panel]').figure.plot.scales.y.distr"
    wait_until(lambda: page.evaluate(scale) == 3)


def test_the_cursor_is_one_in_all_panels(person: Person) -> None:
    senders = [running(person, name) for name in ("left", "right")]
    for sender in senders:
        sender.send(100, train__loss=[3.0] * 100, lr=[0.1] * 100)
    query = "&".join(f"run={sender.attempt.run_id}" for sender in senders)
    page = person.page
    person.open(f"/runs/compare/?{query}")
    expect(page.locator("[data-drawn]")).to_have_count(2)
    box = page.locator(".u-over").first.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + 60)
    expect(page.locator("[data-readings]").nth(0)).to_contain_text("tokens")
    expect(page.locator("[data-readings]").nth(1)).to_contain_text("tokens")


def test_checkpoints_attempts_and_alerts_are_seen_on_the_curve(person: Person) -> None:
    sender = running(person, "flagged")
    sender.send(300, train__loss=[float("nan") if step == 150 else 2.0 for step in range(300)])
    attempt = sender.attempt
    for state in ("complete", "verified"):
        events.record(run=attempt.run, attempt=attempt, kind="checkpoint", message=f"Step 100 is {state}.",
                      data={"id": 9, "step": 100, "state": state})  # fmt: skip
    events.record(
        run=attempt.run,
        attempt=attempt,
        kind="alert",
        message="The loss jumped.",
        data={"step": 200},
    )
    page = person.page
    person.open(f"/runs/{attempt.run_id}/")
    checkpoint = page.locator("[data-panel]", has_text="Loss").first.locator(
        ".chart-flag-checkpoint"
    )
    expect(checkpoint).to_have_attribute("title", "Step 100 is verified.")
    expect(checkpoint).to_have_attribute("href", "/checkpoints/9/")
    expect(checkpoint).to_be_visible()
    alert = page.locator("[data-panel]", has_text="Loss").first.locator(".chart-flag-alert")
    expect(alert).to_be_visible()
    over = place(page.locator(".u-over").first)
    for mark, step in ((checkpoint, 99), (alert, 199)):
        share = (place(mark)["x"] - over["x"]) / over["width"]
        assert share == pytest.approx(step / 299, abs=0.03)
    assert pixels(person, "--state-bad", "[data-panel] canvas") > 5  # the cross of the NaN
    events.record(
        run=attempt.run, attempt=attempt, kind="alert", message="Again.", data={"step": 280}
    )
    expect(alert).to_have_count(2)  # without a reload
