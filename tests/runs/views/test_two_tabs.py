"""A page acts on the project that it shows, whatever another tab has chosen since; a link leads into the project it stands in."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from controlplane.common.models import Membership, Project, Role, User
from runs.models import Card, Config, RulebookValue, Run, SavedView
from runs.services import cards, configs
from safehold.config import to_toml
from tests.factories import make_project, make_user
from tests.runs.corpus import documents_on

pytestmark = pytest.mark.django_db


@pytest.fixture
def shown() -> Project:
    return make_project(name="Shown")


@pytest.fixture
def chosen() -> Project:
    return make_project(name="Chosen elsewhere")


@pytest.fixture
def user(shown: Project, chosen: Project) -> User:
    made = make_user(Role.ADMIN, shown)
    Membership.objects.create(user=made, project=chosen, role=Role.ADMIN)
    return made


@pytest.fixture
def client(user: User, chosen: Project) -> Client:
    client = Client()
    client.force_login(user)
    client.post("/projects/switch/", {"project": chosen.pk})
    return client


@pytest.fixture
def documents(tmp_path: Path) -> Callable[..., dict[str, Any]]:
    return documents_on(tmp_path)


@pytest.fixture
def config(user: User, shown: Project, documents: Callable[..., dict[str, Any]]) -> Config:
    card = cards.create_card(user=user, project=shown, name="The card")
    return configs.create_config(user=user, project=shown, document=documents(), card=card)


def test_settings_change_the_project_that_they_show(
    client: Client, shown: Project, chosen: Project
) -> None:
    make_user(username="ben")
    client.post("/settings/members/", {"project": shown.pk, "username": "ben", "role": 20})
    assert Membership.objects.get(user__username="ben").project == shown
    client.post("/projects/switch/", {"project": chosen.pk})
    page = client.post("/settings/project/archive/", {"project": shown.pk}, follow=True)
    assert page.context["current_project"] == shown
    assert set(Project.objects.filter(archived_at=None)) == {chosen}


def test_what_is_written_goes_where_the_form_stood(
    client: Client, shown: Project, chosen: Project, documents: Callable[..., dict[str, Any]]
) -> None:
    client.post("/cards/new/", {"project": shown.pk, "name": "n", "stage": "sft"})
    client.post("/projects/switch/", {"project": chosen.pk})
    typed = {"project": shown.pk, "card": Card.objects.get().pk, "side": "toml"}
    client.post("/configs/new/", typed | {"toml": to_toml(documents())})
    client.post("/projects/switch/", {"project": chosen.pk})
    bounds = {"project": shown.pk, "low": "0", "high": "1", "reason": "Why not."}
    client.post("/settings/rulebook/weight_decay.any/", bounds)
    client.post("/projects/switch/", {"project": chosen.pk})
    client.post("/runs/views/save/", {"project": shown.pk, "name": "v", "query": "q=a"})
    for model in (Card, Config, RulebookValue, SavedView):
        assert model.objects.get().project == shown  # type: ignore[attr-defined]
    assert Config.objects.get().card == Card.objects.get()


def test_a_link_leads_into_the_project_that_it_stands_in(
    client: Client, config: Config, shown: Project
) -> None:
    page = client.get(f"/runs/new/?config={config.pk}")
    assert (page.context["chosen"], page.context["current_project"]) == (config, shown)
    page = client.get(f"/configs/new/?parent={config.pk}")
    assert (page.context["parent"], page.context["card"]) == (config, config.card)
    rules = client.get(f"/settings/rulebook/?config={config.pk}")
    assert rules.context["current_project"] == shown


def test_another_ones_project_is_refused_in_the_words_of_a_missing_one(
    client: Client, config: Config
) -> None:
    other = make_project()
    for path in ("/cards/new/", "/settings/members/", "/projects/switch/"):
        answer = client.post(path, {"project": other.pk, "name": "n", "stage": "sft"})
        assert answer.status_code == 404, path
    stranger = Client()
    stranger.force_login(make_user(Role.OPERATOR, other))
    assert stranger.get(f"/runs/new/?config={config.pk}").status_code == 404
    assert stranger.get(f"/configs/new/?card={config.card_id}").status_code == 404
    assert not Run.objects.exists()


def test_what_is_asked_for_can_be_chosen_however_old_it_is(
    client: Client, user: User, config: Config, documents: Callable[..., dict[str, Any]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.setattr("runs.views.launches._MOST_CONFIGS", 1)
    monkeypatch.setattr("runs.views.configs._MOST_CARDS", 1)
    configs.create_config(user=user, project=config.project, document=documents(name="newer"))
    cards.create_card(user=user, project=config.project, name="newer")
    assert client.get(f"/runs/new/?config={config.pk}").context["chosen"] == config
    page = client.get(f"/configs/new/?card={config.card_id}").content.decode()
    assert f'<option value="{config.card_id}" selected>The card' in page
