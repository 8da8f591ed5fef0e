import pytest

from runs.models import Card
from runs.services import cards
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
