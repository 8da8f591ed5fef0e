"""A card is filled in and corrected in a browser; what it adds up follows as one types."""

from collections.abc import Iterator
from datetime import timedelta

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

from checkpoints.models import Checkpoint
from runs.models import Attempt, Card, CardChange
from tests.e2e.browsing import Person, running, signed_in
from tests.factories import make_attempt, make_config, make_run
from tests.live_service import LiveService
from tests.runs.planned import AGREED, make_card

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(180)]
PHONE = {"width": 390, "height": 844}


@pytest.fixture
def person(page: Page, live_service_module: LiveService) -> Iterator[Person]:
    someone = signed_in(page, live_service_module)
    yield someone
    assert someone.faults == []


def fill(page: Page, **fields: str) -> None:
    """Type into fields by their path, `__` for the point."""
    for path, text in fields.items():
        page.locator(f"[name='{path.replace('__', '.')}']").fill(text)


def test_a_card_is_filled_in_and_corrected(person: Person) -> None:
    page = person.page
    person.open("/cards/new/")
    fill(page, name="Seventy", question="Does it pay?", acceptance="loss val <= 2.0")
    fill(page, network__parameters="70e9", network__sequence_length="4096", network__vocabulary="50000")  # fmt: skip
    fill(page, data__tokens="100000000000")
    fill(page, compute__peak_tflops_per_device="300", compute__mfu="0.5", compute__devices="512")
    column = page.locator("#estimate")
    expect(column.locator("[data-device-days]")).to_have_text("3,241")
    expect(column.locator("[data-wall-days]")).to_have_text("6.33")
    expect(column).to_contain_text("10.8")
    expect(column).to_contain_text("advised")
    fill(page, compute__memory_gb_per_device="80")
    expect(column.locator("[data-state='does not fit']")).to_be_visible()
    fill(page, plan__zero_stage="3")
    expect(column.locator("[data-state='fits']")).to_be_visible()
    fill(page, plan__tensor_parallel="7")
    expect(page.locator("#f-plan-tensor_parallel-faults")).to_contain_text("do not divide 512")
    page.get_by_role("button", name="Write the card").click()
    expect(page.get_by_role("alert")).to_contain_text("see the fields marked")
    assert not Card.objects.exists()
    fill(page, plan__tensor_parallel="8")
    page.get_by_role("button", name="Write the card").click()
    expect(page.get_by_role("heading", name="Seventy", exact=True)).to_be_visible()
    expect(page.locator("#estimate .agreements .is-met")).to_have_count(3)
    _agree_and_say_why(page)


def _agree_and_say_why(page: Page) -> None:
    page.locator("[name='task_form']").select_option("open_generation")
    fill(page, compute__devices="256", reason="Half of the cluster is booked.")
    page.get_by_role("button", name="Keep the changes").click()
    expect(page.locator("#estimate .agreements .is-met")).to_have_count(4)
    trail = page.locator("section", has=page.get_by_role("heading", name="Changes"))
    expect(trail).to_contain_text("compute.devices")
    expect(trail).to_contain_text("Half of the cluster is booked.")
    assert set(CardChange.objects.values_list("field", flat=True)) == {"task_form", "compute.devices"}  # fmt: skip


def test_a_pilot_is_made_and_found_again(person: Person) -> None:
    page = person.page
    person.open("/cards/new/?stage=sft")
    expect(page.locator("[name='stage']")).to_have_value("sft")
    fill(page, name="Tuned", data__tokens="1000000")
    page.get_by_role("button", name="Write the card").click()
    page.get_by_role("button", name="Make a pilot").click()
    expect(page.get_by_role("heading", name="Tuned, pilot")).to_be_visible()
    expect(page.locator("[name='data.tokens']")).to_have_value("10000")
    page.get_by_role("link", name="#", exact=False).first.click()
    expect(page.get_by_role("heading", name="Pilots")).to_be_visible()


def test_the_card_fits_a_phone(person: Person) -> None:
    page = person.page
    page.set_viewport_size(PHONE)  # type: ignore[arg-type]
    person.open("/cards/new/")
    fill(page, network__parameters="7e9", network__sequence_length="4096", data__tokens="140000000000")  # fmt: skip
    fill(page, compute__peak_tflops_per_device="300", compute__devices="64")
    expect(page.locator("#estimate")).to_contain_text("advised")
    width = page.evaluate("document.documentElement.scrollWidth")
    assert width <= PHONE["width"]


def test_a_run_shows_what_it_is_held_against_and_what_is_left(person: Person) -> None:
    page = person.page
    card = make_card(person.user, person.project)
    sender = running(person, "measured", card=card)
    Attempt.objects.filter(pk=sender.attempt.pk).update(started_at=timezone.now() - timedelta(seconds=60))  # fmt: skip
    sender.send(50, time__step_seconds=[1.0] * 50, val__loss=[1.9] * 50)
    person.open(f"/runs/{sender.attempt.run_id}/proof/")
    expect(page.locator("[data-acceptance]")).to_contain_text("val/loss")
    expect(page.locator("[data-acceptance] [data-state='accepted']")).to_be_visible()
    expect(page.locator("[data-reforecast]")).to_contain_text("at 1.00 s a step")
    person.open(f"/cards/{card.pk}/")
    expect(page.get_by_role("link", name="measured")).to_be_visible()
    expect(page.locator("[data-state='not measured']").first).to_be_visible()


def bases_of(person: Person) -> list[Checkpoint]:
    """Return two verified checkpoints of one run, of the steps 900 and 1000."""
    document = {"schema_version": 1, "name": "c", "network": AGREED["network"]}
    config = make_config(project=person.project, created_by=person.user, document=document)
    attempt = make_attempt(run=make_run(config=config, name="alpha"))
    return [
        Checkpoint.objects.create(
            run=attempt.run, attempt=attempt, step=step, kind="anchor", state="verified", path=f"/ckpt/step-{step}",
            state_at=timezone.now(), created_at=timezone.now(), manifest={},
        )
        for step in (900, 1000)
    ]  # fmt: skip


def test_a_base_checkpoint_is_chosen_by_keyboard_or_typed(person: Person) -> None:
    page = person.page
    wanted, _other = bases_of(person)
    person.open("/cards/new/?stage=sft")
    fill(page, name="Tuned", network__layers="9")
    chosen, offered = page.locator(".picker-chosen"), page.locator("#base-choices [role='option']")
    page.get_by_text("Choose", exact=True).click()
    expect(offered).to_have_count(2)
    page.locator("[data-picker] [role='combobox']").fill("alpha 900")
    expect(offered).to_have_count(1)
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page.locator("[name='base_checkpoint']")).to_be_focused()
    expect(page.locator("[name='base_checkpoint']")).to_have_value(str(wanted.pk))
    expect(chosen).to_contain_text("alpha, step 900")
    expect(page.locator("#estimate")).to_contain_text("network.layers is 9; the base checkpoint")
    fill(page, base_checkpoint="999999")
    expect(page.locator("#estimate")).to_contain_text("There is no checkpoint 999999")
    expect(chosen).to_be_empty()


def test_the_launch_page_names_the_base_and_takes_another_one(person: Person) -> None:
    page = person.page
    first, second = bases_of(person)
    card = make_card(person.user, person.project, stage="sft", base_checkpoint=first.pk)
    config = make_config(project=person.project, created_by=person.user, card=card)
    person.open(f"/runs/new/?config={config.pk}")
    shown = page.locator("[data-launch-base] .picker-chosen")
    expect(shown).to_contain_text("alpha, step 900")
    page.get_by_text("Choose", exact=True).click()
    page.locator("[data-picker] [role='combobox']").fill("1000")
    expect(page.locator("#base-choices [role='option']")).to_have_count(1)
    page.keyboard.press("Enter")
    expect(page.locator("[name='weights_from']")).to_have_value(str(second.pk))
    expect(shown).to_contain_text("alpha, step 1,000")
    fill(page, weights_from="")
    expect(shown).to_contain_text("alpha, step 900")
