"""Config & proof: who approved, what changed and why, what was launched."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from controlplane.common.models import Role
from runs.models import Config, Run, RunChange
from runs.services import approvals, configs, runs
from tests.factories import make_attempt, make_user
from tests.runs.corpus import documents_on
from tests.runs.proven import prove
from tests.runs.views.people import People


@pytest.fixture
def stored(people: People, tmp_path: Path) -> Callable[..., Config]:
    documents = documents_on(tmp_path)

    def stored(parent: Config | None = None, **changes: Any) -> Config:
        return configs.create_config(
            user=people.operator_user, project=people.project, document=documents(**changes), parent=parent
        )  # fmt: skip

    return stored


def planned(people: People, config: Config) -> Run:
    return runs.create_run(user=people.operator_user, project=people.project, config=config)


def proof(people: People, run: Run) -> str:
    return str(people.viewer.get(f"/runs/{run.pk}/proof/").content.decode())


def test_several_variables_are_listed_and_their_reason_kept(
    people: People, stored: Callable[..., Config]
) -> None:
    run = planned(people, stored(parent=stored(), train__seed=5, optimizer__clip=0.5))
    page = proof(people, run)
    assert "more than one variable changed: 2" in page
    assert "Gradient clip, Seed" in page
    header = people.viewer.get(f"/runs/{run.pk}/header/").content.decode()
    assert "more than one variable changed" in header
    people.viewer.post(f"/runs/{run.pk}/reason/", {"reason": "Mine."})
    assert RunChange.objects.get(run=run).reason == ""
    people.operator.post(f"/runs/{run.pk}/reason/", {"reason": "A new baseline."})
    assert "A new baseline." in proof(people, run)


def test_who_approved_stands_there(people: People, stored: Callable[..., Config]) -> None:
    config = prove(stored(kind="production"))
    run = planned(people, config)
    assert "Nobody has approved it" in proof(people, run)
    configs.freeze(user=people.operator_user, config=config)
    asked = approvals.request_approval(user=people.operator_user, config=config)
    approver = make_user(Role.APPROVER, people.project)
    approvals.approve(user=approver, approval=asked, reason="Rate and data.")
    page = proof(people, run)
    assert f"{people.operator_user} asked, {approver} approved" in page
    assert "Rate and data." in page


def test_what_was_launched_stands_there(people: People, stored: Callable[..., Config]) -> None:
    run = planned(people, stored(data__version="blake3:2"))
    assert "not reported" in proof(people, run)
    make_attempt(
        run=run, state="running",
        environment={"host": "node-7", "code": {"commit": "c" * 40}, "versions": {"torch": "2.13.0"}},
    )  # fmt: skip
    page = proof(people, run)
    for text in ("c" * 40, "node-7", "2.13.0", "blake3:2"):
        assert text in page
