from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from runs.models import Card, Run
from runs.services import cards, configs, pilots
from tests.factories import make_attempt, make_config, make_run
from tests.runs.corpus import documents_on
from tests.runs.planned import log, make_card
from tests.runs.views.people import People

# The reference of CARD-2: 70e9 parameters, 100e9 tokens, 300 TFLOP/s at 50 %.
REFERENCE = {
    "name": "Big one", "stage": "pretrain", "network.parameters": "70e9", "data.tokens": "100000000000",
    "compute.peak_tflops_per_device": "300", "compute.mfu": "0.5", "compute.devices": "512",
}  # fmt: skip


@pytest.fixture
def card(people: People) -> Card:
    return cards.create_card(
        user=people.operator_user,
        project=people.project,
        name="Small GPT",
        data={"data": {"tokens": 1000}},
    )


def test_the_estimate_follows_what_is_typed(people: People) -> None:
    page = people.operator.post("/cards/estimate/", REFERENCE).content.decode()
    assert "4.20e22" in page
    assert "3,241" in page
    assert "6.33" in page


def test_the_estimate_says_what_is_still_needed(people: People) -> None:
    page = people.operator.post(
        "/cards/estimate/", {"name": "x", "stage": "pretrain"}
    ).content.decode()
    assert "Still needed" in page
    assert "tokens seen" in page


def test_a_fault_while_typing_is_sent_to_its_field(people: People) -> None:
    page = people.operator.post(
        "/cards/estimate/", REFERENCE | {"compute.mfu": "40"}
    ).content.decode()
    assert '<div class="field-faults" id="f-compute-mfu-faults" hx-swap-oob="true"><p>' in page


def test_a_card_is_written(people: People) -> None:
    answer = people.operator.post("/cards/new/", REFERENCE | {"acceptance": "eval/loss <= 2.5"})
    card = Card.objects.get()
    assert answer["Location"] == f"/cards/{card.pk}/"
    assert card.data["network"]["parameters"] == 70e9
    assert card.data["acceptance"] == [
        {"metric": "eval/loss", "split": "validation", "comparator": "<=", "threshold": 2.5}
    ]


@pytest.mark.parametrize(
    ("field", "typed"),
    [("name", ""), ("stage", "later"), ("network.layers", "many"), ("data.tokens", "-1")],
)
def test_a_card_that_cannot_be_kept_names_the_field_and_keeps_what_was_typed(
    people: People, field: str, typed: str
) -> None:
    answer = people.operator.post(
        "/cards/new/", REFERENCE | {"compute.accelerator": "H200", field: typed}
    )
    assert answer.status_code == 422
    page = answer.content.decode()
    assert 'value="H200"' in page
    assert "see the fields marked" in page
    assert not Card.objects.exists()


def test_every_change_is_kept_with_its_reason(people: People, card: Card) -> None:
    people.operator.post(
        f"/cards/{card.pk}/",
        {
            "name": "Small GPT",
            "stage": "pretrain",
            "data.tokens": "2000",
            "network.tied": "true",
            "plan.master_weights": "true",
            "reason": "More data came.",
        },
    )
    page = people.viewer.get(f"/cards/{card.pk}/").content.decode()
    change = card.changes.get()
    assert (change.field, change.old, change.new) == ("data.tokens", 1000, 2000)
    assert "More data came." in page


def test_what_somebody_else_changed_meanwhile_is_not_written_over_unasked(
    people: People, card: Card
) -> None:
    path, flags = f"/cards/{card.pk}/", {"network.tied": "true", "plan.master_weights": "true"}
    cards.update_card(user=people.operator_user, card=card, stage="sft")
    cards.update_card(user=people.operator_user, card=card, stage="pretrain")
    opened = people.operator.get(path).context["seen_at"]
    typed = {"name": "Small GPT", "stage": "pretrain", "data.tokens": "1000", **flags}
    cards.update_card(user=people.operator_user, card=card, data={"data": {"tokens": 5000}})

    refused = people.operator.post(path, typed | {"question": "Why?", "seen_at": opened})
    page = refused.content.decode()
    assert refused.status_code == 422
    assert f"data.tokens by {people.operator_user}" in page
    assert f"stage by {people.operator_user}" not in page
    assert page.index("data.tokens by") < page.index('id="estimate"')
    assert "Why?" in page
    card.refresh_from_db()
    assert (card.data["data"]["tokens"], card.question) == (5000, "")

    again = typed | {"question": "Why?", "seen_at": refused.context["seen_at"]}
    assert people.operator.post(path, again).status_code == 302
    card.refresh_from_db()
    assert (card.data["data"]["tokens"], card.question) == (1000, "Why?")


def test_a_typing_error_does_not_hide_what_was_changed_meanwhile(
    people: People, card: Card
) -> None:
    path = f"/cards/{card.pk}/"
    opened = people.operator.get(path).context["seen_at"]
    cards.update_card(user=people.operator_user, card=card, question="Really?")
    answer = people.operator.post(path, {"name": "", "stage": "pretrain", "seen_at": opened})
    assert answer.status_code == 422
    assert answer.context["seen_at"] == opened


def test_a_viewer_reads_and_does_not_write(people: People, card: Card) -> None:
    page = people.viewer.get(f"/cards/{card.pk}/").content.decode()
    assert "Keep the changes" not in page
    assert (
        people.viewer.post(f"/cards/{card.pk}/", {"name": "x", "stage": "sft"}).status_code == 403
    )
    assert people.outsider.get(f"/cards/{card.pk}/").status_code == 404
    assert people.viewer.get("/cards/new/").status_code == 403


def test_the_list_finds_cards_by_name(people: People, card: Card) -> None:
    assert "Small GPT" in people.viewer.get("/cards/?q=small").content.decode()
    assert "No card with this name" in people.viewer.get("/cards/?q=large").content.decode()


def test_a_new_card_begins_with_the_defaults_of_its_stage(people: People) -> None:
    page = people.operator.get("/cards/new/?stage=sft").content.decode()
    assert '<option value="sft" selected>' in page
    assert "the loss is taken over the answer alone" in page
    assert 'name="compute.mfu" value="0.3"' in page


def test_a_field_at_fault_does_not_stop_the_reckoning(people: People) -> None:
    page = people.operator.post(
        "/cards/estimate/", REFERENCE | {"network.layers": "many", "compute.devices": "12", "plan.tensor_parallel": "8"}
    ).content.decode()  # fmt: skip
    assert "4.20e22" in page
    assert 'id="f-plan-tensor_parallel-faults"' in page


def test_the_column_tells_of_memory_forecast_and_advice(people: People) -> None:
    typed = REFERENCE | {
        "network.sequence_length": "4096", "compute.memory_gb_per_device": "75", "plan.zero_stage": "0",
        "plan.tensor_parallel": "16", "plan.pipeline_parallel": "1", "plan.master_weights": "true",
    }  # fmt: skip
    page = people.operator.post("/cards/estimate/", typed).content.decode()
    assert 'data-state="tight"' in page
    assert "all-reduces wait in every layer" in page
    assert "data-ettr" in page
    assert "advised" in page


def test_a_card_is_exported(people: People, card: Card) -> None:
    answer = people.viewer.get(f"/cards/{card.pk}/export.md")
    assert answer["Content-Disposition"] == f'attachment; filename="card-{card.pk}.md"'
    assert "# Small GPT" in answer.content.decode()
    assert people.viewer.get(f"/cards/{card.pk}/export.json").json()["name"] == "Small GPT"
    assert people.outsider.get(f"/cards/{card.pk}/export.json").status_code == 404


def test_a_pilot_is_made_from_the_page(people: People, card: Card) -> None:
    answer = people.operator.post(f"/cards/{card.pk}/pilot/", {"kind": "pilot"})
    made = Card.objects.get(parent=card)
    assert answer["Location"] == f"/cards/{made.pk}/"
    page = people.operator.get(f"/cards/{card.pk}/").content.decode()
    assert "Small GPT, pilot" in page
    assert people.viewer.post(f"/cards/{card.pk}/pilot/", {"kind": "pilot"}).status_code == 403


def test_mixes_are_read_line_by_line(people: People, card: Card) -> None:
    made, _ = pilots.create_pilot(user=people.operator_user, card=card, kind="mix_pilot")
    answer = people.operator.post(f"/cards/{made.pk}/mixes/", {"mixes": "no mix"}, follow=True)
    assert "is no mix" in answer.content.decode()
    answer = people.operator.post(
        f"/cards/{made.pk}/mixes/", {"mixes": "even: web = 0.5, code = 0.5"}, follow=True
    )
    assert "no config whose mix could be varied" in answer.content.decode()


def test_card_and_run_show_what_was_reached(people: People) -> None:
    card = make_card(people.operator_user, people.project)
    config = make_config(project=people.project, created_by=people.operator_user, card=card)
    run = make_run(config=config, card=card)
    over = {"state": "ended", "outcome": "finished", "ended_at": timezone.now()}
    log(make_attempt(run=run, **over), val__loss={100: 1.9}, test__mmlu={100: 0.31})
    page = people.viewer.get(f"/cards/{card.pk}/").content.decode()
    assert 'data-state="accepted"' in page
    proof = people.viewer.get(f"/runs/{run.pk}/proof/").content.decode()
    assert "data-acceptance" in proof
    assert "val/loss" in proof


def test_a_card_that_lacks_agreements_is_told_on_the_launch_page(
    people: People, card: Card, tmp_path: Path
) -> None:
    config = configs.create_config(
        user=people.operator_user, project=people.project, document=documents_on(tmp_path)(), card=card
    )  # fmt: skip
    asked = people.operator.get("/runs/new/", {"config": config.pk})
    answer = people.operator.post("/runs/new/", {"config": config.pk, "launcher": "local"})
    assert (asked.status_code, answer.status_code) == (200, 422)
    for page in (asked.content.decode(), answer.content.decode()):
        _, _, notice = page.partition("data-card-lacks")
        assert "It lacks the task form." in notice
        assert (
            f'<a href="/cards/{card.pk}/">Fill it in on card #{card.pk}, {card.name}.</a>' in notice
        )
    assert not Run.objects.exists()


def test_the_page_of_a_card_asks_few_questions(
    people: People, django_assert_max_num_queries: Any
) -> None:
    card = make_card(people.operator_user, people.project)
    for _ in range(10):
        config = make_config(project=people.project, created_by=people.operator_user, card=card)
        log(make_attempt(run=make_run(config=config, card=card)), val__loss={100: 1.9})
    with django_assert_max_num_queries(24):
        people.viewer.get(f"/cards/{card.pk}/")


def test_the_list_asks_as_much_for_many_as_for_one(
    people: People, django_assert_max_num_queries: Any
) -> None:
    for number in range(30):
        make_card(people.operator_user, people.project, name=f"Card {number}")
    with django_assert_max_num_queries(9):
        assert people.viewer.get("/cards/?stage=pretrain").status_code == 200


@pytest.mark.parametrize(("stage", "is_told"), [("sft", True), ("pretrain", False)])
def test_the_agreements_say_that_a_base_is_needed(
    people: People, stage: str, is_told: bool
) -> None:
    page = people.operator.get(f"/cards/new/?stage={stage}").content.decode()
    _, _, agreements = page.partition('class="agreements"')
    assert ("It lacks the base checkpoint." in agreements) == is_told
