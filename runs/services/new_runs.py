"""Planning a run, or forking one: nothing starts yet."""

from collections.abc import Mapping
from typing import Any

from django.db import transaction
from django.utils.translation import gettext as _

from controlplane.common import access, audit
from controlplane.common.errors import Invalid
from controlplane.common.models import Project, User
from runs.labels import cleaned_run_name
from runs.models import Card, Config, Run
from runs.services import changes, events, launcher_choice, resume_points

Checkpoint = Mapping[str, Any]


@transaction.atomic
def create_run(
    *,
    user: User,
    project: Project,
    config: Config,
    card: Card | None = None,
    name: str = "",
    launcher: str = "",
    parent: Run | None = None,
    from_checkpoint: Checkpoint | None = None,
    reason: str = "",
) -> Run:
    """Plan a run, or with `parent` and `from_checkpoint` fork one; nothing starts yet.

    Args:
        user: Needs the role operator in the project.
        project: Where it belongs; config and card must belong there too.
        config: What is run.
        card: Default: the card of the config.
        name: Default: the name of the config.
        launcher: `local` or `kubernetes:CLUSTER`; default: what the config says.
        parent: The run that this one is forked from.
        from_checkpoint: {"id", "path", "run", "step"} that its first attempt begins from.
        reason: Why more than one variable changes against the config that it follows; else the launch asks for it.

    Raises:
        Invalid: Config, card or parent belong to another project, the checkpoint lacks a fact, or the config is for
            another launcher.
    """
    access.require(user, project.pk, "run.create")
    card = card or config.card
    for noun, thing, told in (
        ("config", config, _("The config belongs to another project.")),
        ("card", card, _("The card belongs to another project.")),
        ("parent", parent, _("The parent belongs to another project.")),
    ):
        if thing is not None and thing.project_id != project.pk:
            raise Invalid(told, fields={noun: [_("Choose one of this project.")]})
    start = checked_checkpoint(from_checkpoint)
    launcher = launcher_choice.choose(config=config, asked=launcher)
    run = Run.objects.create(
        project=project, config=config, card=card, parent=parent, launcher=launcher,
        name=cleaned_run_name(name) or config.name, created_by=user, start_checkpoint=start,
        forked_from_checkpoint=start.get("id"), **_planned(config.document),
    )  # fmt: skip
    data = {"config": config.pk, "parent": parent.pk if parent else None, "checkpoint": start}
    audit.record(actor=user, action="run.create", object=run, data=data)
    events.record(run=run, kind="created", user=user, message=_created(run), data=data)
    changes.record(run=run, user=user, reason=reason)
    return run


def checked_checkpoint(given: Checkpoint | None) -> dict[str, Any]:
    """Return the four facts of a checkpoint that a caller gave, or {}.

    Raises:
        Invalid: One of them is missing.
    """
    try:
        return resume_points.cleaned(given)
    except ValueError as error:
        raise Invalid(str(error), fields={"from_checkpoint": [str(error)]}) from error


def _planned(document: Mapping[str, Any]) -> dict[str, Any]:
    steps = document.get("train", {}).get("steps")
    devices = document.get("compute", {}).get("devices", 1)
    return {"total_steps": steps, "num_devices": devices}


def _created(run: Run) -> str:
    if run.parent is None:
        return f"{run.created_by} created the run."
    step = run.start_checkpoint.get("step")
    origin = f", step {step}" if step is not None else ""
    return f"{run.created_by} forked the run from {run.parent.name}{origin}."
