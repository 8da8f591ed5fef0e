"""No path starts a run whose card lacks an agreement (CARD-3)."""

from collections.abc import Callable
from typing import Any

import pytest

from controlplane.common.errors import Invalid
from controlplane.common.models import Project, User
from runs.models import Card, Run
from runs.services import agreements, attempts, base_fit, cards, runs
from tests.factories import (
    make_attempt,
    make_config,
    make_run,
    pass_preflight,
)
from tests.runs.planned import AGREED, make_card

pytestmark = pytest.mark.django_db
LACKS = {
    "task_form": {"task_form": ""},
    "data.tokens": {"data": {}},
    "compute.devices": {"compute": {}},
    "acceptance": {"acceptance": []},
}


@pytest.fixture
def card_with(user: User, project: Project) -> Callable[..., Card]:
    return lambda **changes: make_card(user, project, **changes)


def run_of(card: Card, **changes: Any) -> Run:
    config = make_config(project=card.project, created_by=card.owner, card=card, **changes)
    pass_preflight(config)
    return make_run(config=config, card=card)


@pytest.mark.parametrize("field", LACKS)
def test_a_run_whose_card_lacks_one_agreement_is_refused_by_name(
    card_with: Callable[..., Card], user: User, field: str
) -> None:
    run = run_of(card_with(**LACKS[field]))
    with pytest.raises(Invalid) as told:
        runs.request_launch(run=run, user=user)
    assert told.value.code == "agreements-missing"
    assert list(told.value.fields) == [field]
    assert told.value.extra["findings"][0]["code"] == "CARD-3.agreements"
    assert not run.attempts.exists()


def test_all_that_lacks_is_named_at_once(card_with: Callable[..., Card], user: User) -> None:
    run = run_of(card_with(**{key: type(value)() for key, value in AGREED.items()}))
    with pytest.raises(Invalid) as told:
        runs.request_launch(run=run, user=user)
    assert list(told.value.fields) == list(LACKS)


def test_a_card_that_agreed_starts_its_run(card_with: Callable[..., Card], user: User) -> None:
    run = run_of(card_with())
    assert runs.request_launch(run=run, user=user).number == 1


def test_an_agreement_that_is_filled_in_opens_the_gate(
    card_with: Callable[..., Card], user: User
) -> None:
    card = card_with(task_form="")
    run = run_of(card)
    with pytest.raises(Invalid):
        runs.request_launch(run=run, user=user)
    cards.update_card(user=user, card=card, data=card.data | {"task_form": "dialogue"})
    assert runs.request_launch(run=run, user=user)


def test_a_fork_passes_the_same_gate(card_with: Callable[..., Card], user: User) -> None:
    card = card_with(acceptance=[])
    config = make_config(project=card.project, created_by=user, card=card)
    parent = make_run(config=config, card=card)
    origin = {"id": 7, "path": "/ckpt/step-5", "run": parent.pk, "step": 5}
    fork = make_run(config=config, card=card, parent=parent, start_checkpoint=origin)
    with pytest.raises(Invalid, match="acceptance metrics") as told:
        runs.request_launch(run=fork, user=user)
    assert told.value.hint == f"Fill it in on card #{card.pk}, {card.name}."


def test_an_attempt_that_is_made_without_asking_meets_the_gate_too(
    card_with: Callable[..., Card],
) -> None:
    with pytest.raises(Invalid, match="lacks the task form"):
        attempts.create_attempt(run=run_of(card_with(task_form="")))


def test_a_run_without_a_card_has_agreed_on_nothing_and_is_not_held(user: User, project: Project) -> None:  # fmt: skip
    agreements.require(card=None, config=make_config(project=project))


def base_of(monkeypatch: pytest.MonkeyPatch, network: dict[str, Any], project: Project) -> int:
    """Put a checkpoint with this network where the registry would find it."""
    config = make_config(
        project=project, document={"schema_version": 1, "name": "base", "network": network}
    )
    run = make_attempt(run=make_run(config=config)).run
    facts = {"id": 41, "path": "/ckpt/step-9", "run": run.pk, "step": 9}
    monkeypatch.setattr(base_fit.resume_points, "find", lambda *_args, **_more: facts)
    return 41


def test_a_later_stage_names_its_base(card_with: Callable[..., Card], user: User) -> None:
    run = run_of(card_with(stage="sft"))
    with pytest.raises(Invalid, match="lacks the base checkpoint"):
        runs.request_launch(run=run, user=user)


def test_a_card_keeps_the_architecture_of_its_base(
    user: User, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    base = base_of(monkeypatch, AGREED["network"], project)
    assert make_card(user, project, stage="sft", base_checkpoint=base)
    other = AGREED["network"] | {"layers": 12}
    with pytest.raises(Invalid) as told:
        make_card(user, project, stage="sft", base_checkpoint=base, network=other)
    assert list(told.value.fields) == ["network.layers"]


def test_a_config_of_another_architecture_does_not_start(
    user: User, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    base = base_of(monkeypatch, AGREED["network"], project)
    card = make_card(user, project, stage="continued", base_checkpoint=base)
    document = {"schema_version": 1, "name": "c", "train": {"steps": 5}}
    same = run_of(card, document=document | {"network": AGREED["network"]})
    assert runs.request_launch(run=same, user=user)
    other = run_of(card, document=document | {"network": AGREED["network"] | {"hidden": 1024}})
    with pytest.raises(Invalid) as told:
        runs.request_launch(run=other, user=user)
    assert told.value.extra["findings"][0]["code"] == "CARD-7.architecture"


def test_a_base_that_the_registry_does_not_have_is_refused(user: User, project: Project) -> None:
    with pytest.raises(Invalid) as told:
        make_card(user, project, stage="sft", base_checkpoint=999_999)
    assert list(told.value.fields) == ["base_checkpoint"]
