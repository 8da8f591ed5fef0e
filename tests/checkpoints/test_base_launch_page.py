"""The launch page names the base that a run begins with, and takes another one as the API does."""

from typing import Any

import pytest
from django.test import Client

from checkpoints.models import Checkpoint
from runs.models import Config, Run
from tests.checkpoints.base_cases import DOCUMENT, Cases, make_cases
from tests.checkpoints.makers import make_checkpoint
from tests.factories import make_config, make_run
from tests.runs.planned import AGREED, make_card

pytestmark = pytest.mark.django_db
WAIVED = "The config of this test is a short one."


@pytest.fixture
def cases() -> Cases:
    return make_cases()


@pytest.fixture
def client(cases: Cases) -> Client:
    signed_in = Client()
    signed_in.force_login(cases.user)
    return signed_in


@pytest.fixture
def base(cases: Cases) -> Checkpoint:
    return cases.base()


@pytest.fixture
def config(cases: Cases, base: Checkpoint) -> Config:
    return cases.config(cases.card(base))


def page_of(client: Client, config: Config) -> str:
    return client.get("/runs/new/", {"config": config.pk}).content.decode()


def launched(client: Client, config: Config, weights_from: Any = "") -> Any:
    return client.post("/runs/new/", {
        "config": config.pk, "launcher": "local", "waiver": WAIVED, "weights_from": weights_from,
    })  # fmt: skip


def faults(answer: Any) -> str:
    _, _, found = answer.content.decode().partition('id="weights-from-faults">')
    return found.partition("</div>")[0]


def test_it_names_the_base_of_the_card_and_offers_others(
    client: Client, config: Config, base: Checkpoint
) -> None:
    page = page_of(client, config)
    assert f'<a href="/checkpoints/{base.pk}/">checkpoint {base.pk}</a>' in page
    assert f"/checkpoints/choices/chosen/?base_checkpoint={base.pk}" in page
    assert 'name="weights_from"' in page
    assert 'data-picker="weights_from"' in page
    chosen = client.get(f"/checkpoints/choices/chosen/?base_checkpoint={base.pk}&weights_from=")
    for told in ("alpha", "step 900", 'data-state="verified"', f"/checkpoints/{base.pk}/"):
        assert told in chosen.content.decode()


def test_without_a_base_it_says_whether_the_stage_needs_one(cases: Cases, client: Client) -> None:
    for stage, told in (
        ("sft", "goes on from a checkpoint: name one here, or on the card."),
        ("pretrain", "Left empty, it begins with weights of its own"),
    ):
        card = make_card(cases.user, cases.project, stage=stage)
        assert told in page_of(client, cases.config(card)), stage


def test_what_is_typed_is_shown_instead(cases: Cases, client: Client, base: Checkpoint) -> None:
    other = cases.base(step=700)
    asked = {"base_checkpoint": base.pk, "weights_from": other.pk}
    assert "step 700" in client.get("/checkpoints/choices/chosen/", asked).content.decode()


def test_it_begins_with_the_one_that_was_chosen(
    cases: Cases, client: Client, config: Config
) -> None:
    other = cases.base()
    assert launched(client, config, other.pk).status_code == 302
    start = Run.objects.get(config=config).attempts.get().start_checkpoint
    assert (start["id"], start["takes"]) == (other.pk, "weights")


def test_left_empty_it_is_that_of_the_card(
    client: Client, config: Config, base: Checkpoint
) -> None:
    assert launched(client, config).status_code == 302
    assert Run.objects.get(config=config).start_checkpoint["id"] == base.pk


def test_what_the_api_refuses_is_refused_beside_the_field(
    cases: Cases, client: Client, config: Config
) -> None:
    damaged = cases.base()
    Checkpoint.objects.filter(pk=damaged.pk).update(state="damaged")
    unlike = make_checkpoint(step=5)
    network = AGREED["network"] | {"layers": 9}
    document = DOCUMENT | {"network": network}
    other = make_config(project=cases.project, created_by=cases.user, document=document)
    other_net = make_checkpoint(run=make_run(config=other), step=6)
    for number, told in (
        (damaged.pk, "is damaged: no run may begin from it"), (unlike.pk, "There is no checkpoint"),
        (other_net.pk, "network.layers is 8; the base checkpoint"), ("x", "whole number"), ("0", "greater than or equal"),
        ("9" * 30, "less than or equal"),
    ):  # fmt: skip
        answer = launched(client, config, number)
        assert answer.status_code == 422
        assert told in faults(answer), number
    assert not Run.objects.filter(config=config).exists()


def test_a_base_that_was_damaged_since_is_told_at_once(
    client: Client, config: Config, base: Checkpoint
) -> None:
    Checkpoint.objects.filter(pk=base.pk).update(state="damaged")
    assert "is damaged" in faults(client.get("/runs/new/", {"config": config.pk}))


def test_another_base_needs_the_reason_where_something_else_changes(
    cases: Cases, client: Client, config: Config, base: Checkpoint
) -> None:
    follows, other = cases.config(config.card, config, seed=2), cases.base()
    answer = launched(client, follows, other.pk)
    page = answer.content.decode()
    assert (answer.status_code, "Say why more than one variable changes" in page) == (422, True)
    for one in (base, other):
        assert f'href="/checkpoints/{one.pk}/"' in page


def test_a_production_run_has_no_choice_and_the_page_says_so(
    cases: Cases, client: Client, config: Config, base: Checkpoint
) -> None:
    Config.objects.filter(pk=config.pk).update(kind="production")
    page = page_of(client, config)
    assert 'name="weights_from"' not in page
    assert "A production run begins with no other" in page
    answer = launched(client, config, cases.base().pk)
    assert (answer.status_code, "base of its card, and with no other" in faults(answer)) == (422, True)  # fmt: skip
