"""Runs with bases for tests: checkpoints of a base run, cards that name one, configs that follow each other."""

from dataclasses import dataclass
from typing import Any

from checkpoints.models import Checkpoint
from controlplane.common.models import Project, Role, User
from runs.models import Card, Config, Run
from tests.checkpoints.makers import make_checkpoint
from tests.factories import make_config, make_project, make_run, make_user
from tests.runs.planned import AGREED, make_card

DOCUMENT: dict[str, Any] = {
    "schema_version": 1, "name": "c", "train": {"steps": 50, "seed": 1}, "network": AGREED["network"],
}  # fmt: skip


@dataclass(frozen=True)
class Cases:
    """One project with an operator who makes them."""

    project: Project
    user: User

    def base(self, step: int = 900) -> Checkpoint:
        """Return a verified checkpoint of a run of its own."""
        return make_checkpoint(run=make_run(config=self.config(), name="alpha"), step=step)

    def card(self, base: Checkpoint | None) -> Card:
        """Return a card that names a base, or none."""
        named = {"base_checkpoint": base.pk} if base else {}
        stage = "sft" if base else "pretrain"
        return make_card(self.user, self.project, stage=stage, **named)

    def config(
        self, card: Card | None = None, parent: Config | None = None, **train: Any
    ) -> Config:
        """Return one; `train` are fields of that section."""
        document = DOCUMENT | {"train": DOCUMENT["train"] | train}
        return make_config(
            project=self.project, created_by=self.user, document=document, card=card, parent=parent
        )


def make_cases() -> Cases:
    """Return them."""
    project = make_project()
    return Cases(project, make_user(Role.OPERATOR, project))


def planned(cases: Cases, config: Config, **more: Any) -> Run:
    """Return a run of a config as a person plans it."""
    from runs.services import runs

    return runs.create_run(user=cases.user, project=cases.project, config=config, **more)
