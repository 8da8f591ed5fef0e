"""Pilots are linked cards and configs; the mixes of a mix pilot differ in nothing but the mix (CARD-8)."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from controlplane.common.errors import Conflict, Forbidden, Invalid
from controlplane.common.models import Project, Role, User
from runs import mixes
from runs.models import Card
from runs.services import configs, pilots
from tests.factories import make_attempt, make_run, make_user
from tests.runs.corpus import documents_on
from tests.runs.planned import log, make_card

pytestmark = pytest.mark.django_db


@pytest.fixture
def card(user: User, project: Project) -> Card:
    return make_card(user, project)


@pytest.fixture
def documents(tmp_path: Path) -> Callable[..., dict[str, Any]]:
    large = {
        "network__layers": 8, "network__hidden": 512, "network__heads": 8, "train__steps": 20_000,
        "train__global_batch": 512, "optimizer__warmup_steps": 2000, "compute__devices": 8,
    }  # fmt: skip
    make = documents_on(tmp_path)
    return lambda **changes: make(**large | changes)


def test_a_pilot_is_linked_to_its_card(card: Card, user: User) -> None:
    made, config = pilots.create_pilot(user=user, card=card)
    assert (made.parent, made.pilot, config) == (card, "pilot", None)
    assert made.name == "Small GPT, pilot"
    assert made.data["data"]["tokens"] == card.data["data"]["tokens"] // 100
    assert made.data["acceptance"] == card.data["acceptance"]
    assert list(card.pilots.all()) == [made]


def test_a_pilot_of_a_card_with_a_config_has_one_too(
    card: Card, user: User, documents: Callable[..., dict[str, Any]]
) -> None:
    large = configs.create_config(user=user, project=card.project, document=documents(), card=card)
    made, config = pilots.create_pilot(user=user, card=card)
    assert config is not None
    assert (config.card, config.parent, config.kind) == (made, large, "experiment")
    assert config.document["train"]["steps"] == 200
    assert config.document["network"]["layers"] == made.data["network"]["layers"]


def test_there_are_two_kinds(card: Card, user: User) -> None:
    with pytest.raises(Invalid, match="no pilot of the kind"):
        pilots.create_pilot(user=user, card=card, kind="large")


def test_a_viewer_makes_no_pilot(card: Card, project: Project) -> None:
    with pytest.raises(Forbidden):
        pilots.create_pilot(user=make_user(Role.VIEWER, project), card=card)


@pytest.fixture
def mix_pilot(card: Card, user: User, documents: Callable[..., dict[str, Any]]) -> Card:
    configs.create_config(user=user, project=card.project, document=documents(), card=card)
    made, _ = pilots.create_pilot(user=user, card=card, kind="mix_pilot")
    return made


MIXES = {"even": {"web": 0.5, "code": 0.5}, "code-heavy": {"web": 0.25, "code": 0.75}}


def test_mixes_differ_in_nothing_but_the_mix(mix_pilot: Card, user: User) -> None:
    made = pilots.create_mixes(user=user, card=mix_pilot, mixes=MIXES)
    source = mix_pilot.configs.order_by("pk").first()
    assert source is not None
    for config, (name, shares) in zip(made, MIXES.items(), strict=True):
        paths = {change.path for change in configs.changes_between(source, config)}
        assert paths == {"name", "data.mix.web", "data.mix.code"}
        assert config.document["data"]["mix"] == shares
        assert config.name.endswith(name)


def test_shares_that_do_not_sum_to_one_are_refused_by_mix(mix_pilot: Card, user: User) -> None:
    with pytest.raises(Invalid) as told:
        pilots.create_mixes(user=user, card=mix_pilot, mixes=MIXES | {"odd": {"web": 0.7}})
    assert list(told.value.fields) == ["mixes.odd"]
    assert mix_pilot.configs.count() == 1


def test_only_a_mix_pilot_has_mixes(card: Card, user: User) -> None:
    with pytest.raises(Conflict, match="no config whose mix"):
        pilots.create_mixes(user=user, card=card, mixes=MIXES)


def test_mixes_are_ranked_by_what_their_runs_measured(mix_pilot: Card, user: User) -> None:
    scores = {"even": (1.5, 0.40), "code-heavy": (1.8, 0.35)}
    for config in pilots.create_mixes(user=user, card=mix_pilot, mixes=MIXES):
        run = make_run(config=config, card=mix_pilot)
        loss, mmlu = scores[config.name.rpartition(" ")[2]]
        log(make_attempt(run=run), val__loss={100: loss}, test__mmlu={100: mmlu})
    found = mixes.ranking_of(mix_pilot)
    assert [(one.place, one.result.name.rpartition(" ")[2]) for one in found] == [(1, "even"), (2, "code-heavy")]  # fmt: skip
    assert found[0].result.values == {"loss": 1.5, "mmlu": 0.40}
    assert found[0].result.shares == MIXES["even"]
