"""Choosing a base checkpoint by name instead of number, beside a card's field."""

from collections.abc import Callable
from html import unescape
from re import findall

import pytest
from django.test import Client

from checkpoints.models import Checkpoint
from checkpoints.selectors import choices as choices_module
from controlplane.common.models import Membership, Project, Role, User
from runs import estimates
from safehold.planning import parse_card
from tests.checkpoints.makers import make_checkpoint
from tests.factories import make_config, make_project, make_run, make_user
from tests.runs.planned import AGREED, make_card

pytestmark = pytest.mark.django_db
DOCUMENT = {"schema_version": 1, "name": "c", "train": {"steps": 9}, "network": AGREED["network"]}


@pytest.fixture
def client(user: User) -> Client:
    signed_in = Client()
    signed_in.force_login(user)
    return signed_in


@pytest.fixture
def saved(project: Project, user: User) -> Callable[..., Checkpoint]:
    def save(name: str, step: int, state: str = "verified") -> Checkpoint:
        config = make_config(project=project, created_by=user, document=DOCUMENT)
        return make_checkpoint(run=make_run(config=config, name=name), step=step, state=state)

    return save


def offered(client: Client, text: str = "") -> list[int]:
    page = client.get("/checkpoints/choices/", {"checkpoint_search": text}).content.decode()
    return [int(number) for number in findall(r'data-value="(\d+)"', page)]


def test_it_offers_what_is_proved_whole_newest_first(
    client: Client, saved: Callable[..., Checkpoint]
):
    first, second = saved("alpha", 100), saved("beta", 200, "stable")
    for state in ("damaged", "complete", "failed"):
        saved("gamma", 300, state)
    make_checkpoint()  # of another project
    assert offered(client) == [second.pk, first.pk]


def test_it_is_found_by_run_step_number_state_and_tokenizer(
    client: Client, saved: Callable[..., Checkpoint]
):
    first, second = saved("alpha base", 12_345), saved("beta", 67_890, "stable")
    assert offered(client, "ALPHA") == [first.pk]
    assert offered(client, "12,345") == [first.pk]
    assert offered(client, f"#{second.pk}") == [second.pk]
    assert offered(client, "stable") == [second.pk]
    assert offered(client, "alpha stable") == []
    assert set(offered(client, "eeeeee")) == {first.pk, second.pk}
    for odd in ("\0", "9" * 30, "%", "½"):
        assert offered(client, odd) in ([], [second.pk, first.pk])


def test_each_says_run_step_state_size_and_tokenizer(
    client: Client, saved: Callable[..., Checkpoint]
):
    checkpoint = saved("alpha", 12_345)
    for page in (
        client.get("/checkpoints/choices/"),
        client.get("/checkpoints/choices/chosen/", {"base_checkpoint": str(checkpoint.pk)}),
    ):
        shown = unescape(page.content.decode())
        assert "alpha" in shown
        assert "step 12,345" in shown
        assert 'data-state="verified"' in shown
        assert "25.7 M" in shown
        assert "eeeeeeee" in shown


def test_of_a_number_that_is_none_nothing_is_said(client: Client, saved: Callable[..., Checkpoint]):
    foreign = make_checkpoint()
    for number in ("", "x", "-1", "9" * 30, str(foreign.pk), str(saved("a", 1, "damaged").pk)):
        page = client.get("/checkpoints/choices/chosen/", {"base_checkpoint": number})
        assert not page.content.decode().strip()


def test_the_list_ends_and_costs_the_same_for_any_number(
    client: Client, saved: Callable[..., Checkpoint], monkeypatch: pytest.MonkeyPatch,
    django_assert_max_num_queries: Callable[..., object],
):  # fmt: skip
    monkeypatch.setattr(choices_module, "MOST_CHOICES", 3)
    for step in range(1, 6):
        saved("alpha", step)
    client.get("/checkpoints/choices/")
    with django_assert_max_num_queries(6):
        assert len(offered(client)) == 3


def test_the_card_says_at_once_where_it_is_unlike_its_base(
    client: Client, project: Project, saved: Callable[..., Checkpoint]
):
    base = saved("alpha", 100)
    typed = {"name": "a", "stage": "sft", "base_checkpoint": str(base.pk), "network.layers": "9"}
    page = unescape(client.post("/cards/estimate/", typed).content.decode())
    assert f"network.layers is 9; the base checkpoint {base.pk} has 8." in page
    assert "Keep the architecture of the base." in page
    typed |= {"network.layers": "8"}
    assert "network.layers is" not in client.post("/cards/estimate/", typed).content.decode()
    fields = parse_card({"base_checkpoint": 999_999})
    (told, *_more) = estimates.in_project(fields, "sft", project.pk).advice
    assert (told.code, told.severity) == ("CARD-7.base_checkpoint", "fail")


def test_the_page_of_a_card_has_the_list_beside_a_plain_field(
    client: Client, user: User, project: Project, saved: Callable[..., Checkpoint]
):
    base = saved("alpha", 100)
    card = make_card(user, project, stage="sft", base_checkpoint=base.pk)
    page = client.get(f"/cards/{card.pk}/").content.decode()
    assert f'name="base_checkpoint" value="{base.pk}"' in page
    assert 'role="combobox"' in page
    viewer = Client()
    viewer.force_login(make_user(Role.VIEWER, project))
    assert 'role="combobox"' not in viewer.get(f"/cards/{card.pk}/").content.decode()


def test_the_page_of_a_card_asks_in_the_project_of_the_card_whichever_was_chosen(
    client: Client, user: User
):
    elsewhere = make_project()
    Membership.objects.create(user=user, project=elsewhere, role=Role.OPERATOR)
    config = make_config(project=elsewhere, created_by=user, document=DOCUMENT)
    base = make_checkpoint(run=make_run(config=config), step=100, state="verified")
    card = make_card(user, elsewhere, stage="continued", base_checkpoint=base.pk)
    page = unescape(client.get(f"/cards/{card.pk}/").content.decode())
    choices, chosen = findall(r'hx-get="(/checkpoints/choices/[^"]*)"', page)
    assert f'data-value="{base.pk}"' in client.get(choices).content.decode()
    assert f"#{base.pk}" in client.get(f"{chosen}&base_checkpoint={base.pk}").content.decode()
    (project,) = findall(r'name="project" value="(\d+)">(?=\s)', page.partition("data-document")[2])
    typed = {"stage": "continued", "base_checkpoint": str(base.pk), "project": project}
    assert "in this project" not in client.post("/cards/estimate/", typed).content.decode()
    stranger = {"project": str(make_project().pk)}
    for path in ("/checkpoints/choices/", "/checkpoints/choices/chosen/"):
        assert client.get(path, stranger).status_code == 404
    assert client.post("/cards/estimate/", typed | stranger).status_code == 404
