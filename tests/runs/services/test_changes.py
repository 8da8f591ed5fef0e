"""What a run changes against the config that it follows, kept with its reason."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from controlplane.common.errors import Invalid
from controlplane.common.models import Project, User
from runs.models import Card, Config, Run, RunChange
from runs.services import changes, configs, preflight, runs
from tests.runs.corpus import documents_on

pytestmark = pytest.mark.django_db
SEVERAL = {"train__seed": 5, "optimizer__weight_decay": 0.05}


@pytest.fixture
def stored(project: Project, user: User, tmp_path: Path) -> Callable[..., Config]:
    documents = documents_on(tmp_path)

    def stored(parent: Config | None = None, card: Card | None = None, **changes: Any) -> Config:
        return configs.create_config(
            user=user, project=project, document=documents(**changes), parent=parent, card=card
        )

    return stored


def planned(user: User, config: Config, **more: Any) -> Run:
    return runs.create_run(user=user, project=config.project, config=config, **more)


def test_a_run_of_a_first_config_changes_nothing(user: User, stored: Callable[..., Config]) -> None:
    planned(user, stored())
    assert not RunChange.objects.exists()


def test_one_variable_needs_no_reason(user: User, stored: Callable[..., Config]) -> None:
    run = planned(user, stored(parent=stored(), train__seed=5))
    assert preflight.launch(run=run, user=user).number == 1
    assert (run.change.num_factors, run.change.reason) == (1, "")


def test_several_are_launched_with_a_reason_only(user: User, stored: Callable[..., Config]) -> None:
    run = planned(user, stored(parent=stored(), **SEVERAL))
    with pytest.raises(Invalid, match="Weight decay, Seed") as told:
        preflight.launch(run=run, user=user)
    assert told.value.code == "reason-needed"
    assert ("--reason" in told.value.hint, told.value.fields) == (
        True,
        {"reason": [told.value.message]},
    )
    assert preflight.launch(run=run, user=user, reason=" A new baseline. ").number == 1
    kept = RunChange.objects.get(run=run)
    assert (kept.reason, kept.reason_by) == ("A new baseline.", user)
    assert run.events.filter(kind="change_reason").count() == 1


def test_a_fork_is_held_against_the_run_it_comes_from(
    user: User, stored: Callable[..., Config]
) -> None:
    first = planned(user, stored())
    start = {"id": 1, "path": "/c", "run": first.pk, "step": 5}
    fork = planned(
        user, stored(**SEVERAL), parent=first, from_checkpoint=start, reason="After the spike."
    )
    assert (fork.change.parent_config, fork.change.reason) == (first.config, "After the spike.")
    same = planned(user, first.config, parent=first, from_checkpoint=start)
    assert same.change.num_factors == 0


def test_the_first_reason_stays(user: User, stored: Callable[..., Config]) -> None:
    run = planned(user, stored(parent=stored(), **SEVERAL), reason="One.")
    changes.give_reason(run=run, user=user, reason="Two.")
    assert RunChange.objects.get(run=run).reason == "One."


def test_a_pilot_brings_its_reason_along(
    user: User, project: Project, stored: Callable[..., Config]
) -> None:
    card = Card.objects.create(project=project, owner=user, name="Large")
    pilot = Card.objects.create(
        project=project, owner=user, name="Small", parent=card, pilot="pilot"
    )
    run = planned(user, stored(parent=stored(card=card), card=pilot, **SEVERAL))
    assert run.change.reason == "Pilot of the card Large."
