"""Pages that are open follow the training without a reload, and say so when they cannot."""

import re
import time
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from runs.listings import PAGE_SIZE
from runs.models import PreflightReport
from tests.e2e.browsing import Person, Sender, running, signed_in
from tests.factories import make_config, make_run
from tests.live_service import LiveService

pytestmark = [pytest.mark.e2e, pytest.mark.slow(30), pytest.mark.timeout(180)]
NEXT_FRAMES = "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"


@pytest.fixture
def person(page: Page, live_service_module: LiveService) -> Iterator[Person]:
    """Someone signed in, whose browser had nothing to complain about in the end."""
    someone = signed_in(page, live_service_module)
    yield someone
    assert someone.faults == []


def test_a_reason_that_is_being_typed_stays_while_the_header_follows(person: Person) -> None:
    config = make_config(project=person.project, created_by=person.user, passed=False)
    failed = {"code": "DATA-1.format", "severity": "fail", "message": "There is no such folder."}
    PreflightReport.objects.create(
        config=config, config_hash=config.hash, state="done", verdict="fail", findings=[failed]
    )
    person.page.clock.install()
    person.open(f"/runs/{make_run(config=config).pk}/")
    reason = person.page.locator("#waiver:not([data-old])")
    reason.evaluate("field => { field.dataset.old = 'before' }")
    person.page.clock.run_for(7000)
    reason.fill("the data arrive at ten")  # into the field of a new header
    for _ in range(3):
        person.page.clock.run_for(2500)
        person.page.wait_for_load_state("networkidle")
        expect(reason).to_have_value("the data arrive at ten")
    reason.fill("")
    with person.page.expect_request("**/header/"):
        person.page.clock.run_for(7000)


def test_a_line_of_the_list_moves(person: Person) -> None:
    sender = running(person)
    person.open("/runs/")
    line = person.page.locator(f"#run-{sender.attempt.run_id}")
    expect(line).to_contain_text("gpt-tiny")
    for _ in range(3):
        sender.send(10)
    expect(line.locator("progress")).to_have_attribute("value", "30")
    expect(line).to_contain_text("33.3")
    expect(line).to_contain_text("30.0 k")


def test_a_new_run_comes_into_the_open_list(person: Person) -> None:
    running(person, "first")
    person.open("/runs/")
    sender = running(person, "second")
    sender.send(5)
    expect(person.page.get_by_role("link", name="second")).to_be_visible()


def test_a_run_of_another_page_of_the_list_does_not_come_into_this_one(person: Person) -> None:
    old = running(person, "from long ago")
    config = make_config(project=person.project, created_by=person.user)
    for number in range(PAGE_SIZE):
        make_run(config=config, name=f"later {number}")
    person.open("/runs/")
    lines = person.page.locator("tr[data-run]")
    expect(lines).to_have_count(PAGE_SIZE)
    old.send(5)
    sender = running(person, "the newest")
    sender.send(5)
    expect(lines.first).to_contain_text("the newest")
    expect(lines).to_have_count(PAGE_SIZE + 1)


def test_curves_move_without_a_reload(person: Person) -> None:
    sender = running(person)
    sender.send(100)
    person.open(f"/runs/{sender.attempt.run_id}/")
    reading = person.page.locator("[data-panel]", has_text="Loss").first.locator("[data-readings]")
    expect(reading).to_contain_text("10")
    person.page.evaluate("window.wasNotReloaded = true")
    sender.send(900)
    expect(reading).to_contain_text(re.compile(r"loss 1\b"))
    expect(person.page.locator("[data-live-step]")).to_contain_text("1.00 k")
    assert person.page.evaluate("window.wasNotReloaded")


def test_the_other_ranks_of_a_run_cost_its_page_no_questions(person: Person) -> None:
    """Every rank logs its own speed; the chart has that of the lowest."""
    page, sender = person.page, running(person)
    speed = {"throughput__tokens_per_second": [4866.0]}
    sender.send(**speed)
    others = [Sender(person.service, sender.attempt, rank=rank) for rank in (1, 2)]
    person.open(f"/runs/{sender.attempt.run_id}/")
    reading = page.locator("[data-panel]", has_text="Throughput").locator("[data-readings]")
    expect(reading).to_contain_text("4.87 k")
    page.wait_for_load_state("networkidle")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    for _ in range(8):
        sender.send(**speed)
        for other in others:
            other.send(**speed)
        page.wait_for_timeout(250)
    sender.send(throughput__tokens_per_second=[1234.0])
    expect(reading).to_contain_text("1.23 k")
    assert [url for url in asked if "metrics.json" in url] == []


def test_a_question_without_an_answer_is_asked_again(person: Person) -> None:
    page, sender = person.page, running(person)
    sender.send(10)
    person.open(f"/runs/{sender.attempt.run_id}/")
    expect(page.locator("[data-readings]").first).to_contain_text("100")
    page.wait_for_load_state("networkidle")
    page.route("**/metrics.json*", lambda route: route.fulfill(status=503, body=""), times=1)
    with page.expect_response(lambda answer: "metrics.json" in answer.url and answer.ok):
        page.get_by_text("Steps", exact=True).click()
    person.faults.clear()  # the browser itself complains of the first answer


def test_a_metric_that_is_logged_for_the_first_time_gets_its_panel(person: Person) -> None:
    sender = running(person)
    person.open(f"/runs/{sender.attempt.run_id}/")
    expect(person.page.locator("[data-panel][data-empty]")).to_have_count(6)
    sender.send(2, train__loss=[2.0, 1.5], loss__code=[3.0, 2.5])
    loss = person.page.locator("[data-panel]", has_text="Loss").first
    expect(loss.locator("[data-readings]")).to_contain_text("1.50", timeout=15_000)
    expect(person.page.locator("[data-chart-group] summary")).to_contain_text("loss")


def test_a_value_that_is_not_finite_is_shown_as_such(person: Person) -> None:
    sender = running(person)
    person.open("/runs/")
    sender.send(3, train__loss=[2.0, float("nan"), float("inf")])
    line = person.page.locator(f"#run-{sender.attempt.run_id} .cell-loss")
    expect(line).to_contain_text("∞")


def test_the_axis_smoothing_and_zoom_ask_for_the_points_they_need(person: Person) -> None:
    sender = running(person)
    sender.send(3000, train__loss=[100.0] * 1500 + [1.0] * 1500)
    person.open(f"/runs/{sender.attempt.run_id}/")
    page, chart = person.page, person.page.locator("[data-canvas][data-drawn]").first
    expect(chart).to_be_visible()
    with page.expect_response(lambda answer: "x=step" in answer.url):
        page.get_by_text("Steps", exact=True).click()
    page.locator("[data-smoothing]").fill("0.9")
    page.evaluate(NEXT_FRAMES)  # another axis is another chart
    expect(chart.locator(".u-over")).to_be_visible()
    box = chart.locator(".u-over").bounding_box()
    assert box is not None
    with page.expect_request(lambda request: "from=" in request.url and "to=" in request.url):
        page.mouse.move(box["x"] + box["width"] * 0.2, box["y"] + 40)
        page.mouse.down()
        page.mouse.move(box["x"] + box["width"] * 0.4, box["y"] + 40, steps=5)
        page.mouse.up()
    page.get_by_role("button", name="Reset zoom").click()
    expect(page.get_by_role("button", name="Reset zoom")).to_be_hidden()


def test_nothing_jumps_when_the_cursor_enters_a_chart(person: Person) -> None:
    sender = running(person)
    sender.send(200, throughput__tokens_per_second=[4866.0] * 200)
    person.page.set_viewport_size({"width": 1440, "height": 900})
    person.open(f"/runs/{sender.attempt.run_id}/")
    heads = "[...document.querySelectorAll('[data-panel]')].map((panel) => panel.offsetHeight)"
    throughput = person.page.locator("[data-panel]", has_text="Throughput")
    expect(throughput.locator("[data-readings]")).to_contain_text("4.87 k")
    before = person.page.evaluate(heads)
    throughput.locator(".u-over").hover()
    expect(throughput.locator(".reading-x")).to_contain_text("tokens")
    assert person.page.evaluate(heads) == before


def test_without_a_broker_a_page_says_so_asks_ever_less_often_and_comes_back(
    person: Person, live_service_module: LiveService
) -> None:
    page, sender = person.page, running(person)
    sender.send(10)
    live_service_module.kill("valkey")
    person.open(f"/runs/{sender.attempt.run_id}/")
    expect(page.locator("[data-stale]")).to_contain_text("Out of date since")
    asked_at = []
    for _ in range(3):
        page.wait_for_event("websocket", timeout=30_000)
        asked_at.append(time.monotonic())
    # At least the third wait: 2 s ± half. Without growing it would be half a second.
    assert asked_at[-1] - asked_at[-2] > 0.9
    expect(page.locator("[data-stale]")).to_be_visible()
    live_service_module.start()
    expect(page.locator("[data-stale]")).to_be_hidden(timeout=40_000)


def test_a_page_says_since_when_it_is_out_of_date_and_catches_up(
    page: Page, live_service: LiveService
) -> None:
    person = signed_in(page, live_service)
    sender = running(person)
    sender.send(10)
    person.open(f"/runs/{sender.attempt.run_id}/")
    expect(page.locator("[data-readings]").first).to_contain_text("100")
    live_service.kill("web")
    expect(page.locator("[data-stale]")).to_contain_text("Out of date since")
    live_service.start_process("web")
    live_service.wait_ready()
    sender.send(90)
    expect(page.locator("[data-stale]")).to_be_hidden(timeout=40_000)
    expect(page.locator("[data-readings]").first).to_contain_text(
        re.compile(r"loss 10\b"), timeout=10_000
    )
