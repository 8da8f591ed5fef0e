"""What people and trainers write is text on every page, never part of it."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from controlplane.common.models import Role
from runs.services import cards, events, logs, run_labels
from tests.checkpoints.makers import make_checkpoint
from tests.e2e.browsing import Person, running, signed_in
from tests.live_service import LiveService

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(180)]
HOSTILE = "\"'><img src=x onerror=hit=1><svg onload=hit=1>"


@pytest.fixture
def person(page: Page, live_service_module: LiveService) -> Iterator[Person]:
    someone = signed_in(page, live_service_module, Role.ADMIN)
    someone.user.first_name = HOSTILE[:40]
    someone.user.save()
    someone.project.name = HOSTILE
    someone.project.save()
    yield someone
    assert someone.faults == []


def test_hostile_texts_stay_texts(person: Person) -> None:
    page, sender = person.page, running(person, HOSTILE)
    run, config = sender.attempt.run, sender.attempt.run.config
    config_name = {"name": HOSTILE, "document": config.document | {"name": HOSTILE}}
    type(config).objects.filter(pk=config.pk).update(**config_name)
    card = cards.create_card(
        user=person.user, project=person.project, name=HOSTILE, question=HOSTILE
    )
    run_labels.label_run(
        run=run, user=person.user, group=HOSTILE, tags=["\"'><svg/onload=hit=1>"], notes=HOSTILE
    )
    events.record(run=run, kind="message", message=HOSTILE)
    logs.append_log(
        attempt=sender.attempt, source="rank-0", offset=0, data=HOSTILE.encode() + b"\n"
    )
    sender.send(3, **{f"{HOSTILE}__a": [1, 2, 3], "train__loss": [3, 2, 1]})
    type(run).objects.filter(pk=run.pk).update(card=card)
    checkpoint = make_checkpoint(attempt=sender.attempt, step=2, state="complete")
    parts = ("", "timeline/", "attempts/", "logs/", "checkpoints/", "proof/", "labels/")
    paths = ["/runs/", *(f"/runs/{run.pk}/{part}" for part in parts)] + [
        "/cards/", f"/cards/{card.pk}/", "/configs/", f"/configs/{config.pk}/", "/checkpoints/",
        f"/checkpoints/{checkpoint.pk}/", "/settings/audit/", "/settings/members/", "/settings/project/", "/search/?q=onload",
        f"/runs/compare/?run={run.pk}&run={running(person, HOSTILE).attempt.run_id}", f"/runs/new/?config={config.pk}",
    ]  # fmt: skip
    for path in paths:
        person.open(path)
        for chart in page.locator("[data-panel]:not([data-empty]) [data-canvas]:visible").all()[:3]:
            chart.hover()
        page.evaluate(
            "for (const folded of document.querySelectorAll('details')) folded.open = true"
        )
        page.wait_for_timeout(200)
        assert page.evaluate("typeof hit") == "undefined", path
        assert page.locator("img[src=x], main svg[onload]").count() == 0, path
    person.open("/runs/")
    expect(page.get_by_role("link", name=HOSTILE).first).to_be_visible()
