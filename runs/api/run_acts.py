"""Acts on a run: each sets what is desired and answers with the run."""

from typing import Any

from django.http import HttpRequest
from ninja import Router, Status
from pydantic import Field

from controlplane.common.api import Id, Input, caller, once
from runs import access
from runs.api.schemas import RunDetailOut
from runs.api.shapes import run_shape
from runs.models import Run
from runs.services import preflight, resume_points, runs

router = Router(tags=["runs"])


class StopIn(Input):
    """How to stop."""

    force: bool = Field(False, description="At once, without saving.")
    reason: str = Field("", max_length=2000)


class PauseIn(Input):
    """Why to pause."""

    reason: str = Field("", max_length=2000)


class ResumeIn(Input):
    """From where to go on."""

    checkpoint: Id | None = Field(None, description="The newest good one when left out.")


class LaunchIn(Input):
    """What a launch may have to know."""

    reason: str = Field(
        "", max_length=2000, description="Why more than one variable changes, where it does."
    )
    waiver: str = Field(
        "", max_length=2000, description="Why an experiment may start in spite of its preflight."
    )
    weights_from: Id | None = Field(
        None,
        ge=1,
        description="A checkpoint whose weights it begins with; the base of its card when left out.",
    )


class ForkIn(Input):
    """A new run that begins from a checkpoint."""

    checkpoint: Id
    config: Id | None = Field(None, description="The config of this run when left out.")
    name: str = Field("", max_length=200)
    launch: bool = False
    reason: str = Field("", max_length=2000, description="Why more than one variable changes.")


class NothingIn(Input):
    """No settings."""


@router.post("/{run_id}/launch", response={202: RunDetailOut}, summary="Launch a run")
def launch(request: HttpRequest, run_id: int, body: LaunchIn | None = None) -> Any:
    """Launch a run whose config passes preflight; else the problem names the findings."""
    run = _run(request, run_id)
    told = body or LaunchIn(reason="", waiver="", weights_from=None)
    preflight.launch(
        run=run, user=caller(request), reason=told.reason, waiver=told.waiver, weights_from=told.weights_from,
    )  # fmt: skip
    return _answer(request, run)


@router.post("/{run_id}/stop", response={202: RunDetailOut}, summary="Stop a run")
def stop(request: HttpRequest, run_id: int, body: StopIn | None = None) -> Any:
    """Save, then stop; with `force` at once."""
    run, how = _run(request, run_id), body or StopIn(force=False, reason="")
    runs.request_stop(run=run, user=caller(request), reason=how.reason, force=how.force)
    return _answer(request, run)


@router.post("/{run_id}/pause", response={202: RunDetailOut}, summary="Pause a run")
def pause(request: HttpRequest, run_id: int, body: PauseIn | None = None) -> Any:
    """Save and hold the devices."""
    run, why = _run(request, run_id), body.reason if body else ""
    runs.request_pause(run=run, user=caller(request), reason=why)
    return _answer(request, run)


@router.post("/{run_id}/save", response={202: RunDetailOut}, summary="Save a checkpoint now")
def save(request: HttpRequest, run_id: int, body: NothingIn | None = None) -> Any:
    """Have the trainer save at its next step."""
    run = _run(request, run_id)
    runs.request_save(run=run, user=caller(request))
    return _answer(request, run)


@router.post("/{run_id}/resume", response={202: RunDetailOut}, summary="Resume a run")
def resume(request: HttpRequest, run_id: int, body: ResumeIn | None = None) -> Any:
    """Go on from the newest good checkpoint, or from the one named."""
    run, named = _run(request, run_id), body.checkpoint if body else None
    start = None if named is None else resume_points.find(named, project_id=run.project_id)
    runs.request_resume(run=run, user=caller(request), from_checkpoint=start)
    return _answer(request, run)


@router.post("/{run_id}/fork", response={201: RunDetailOut}, summary="Fork a run")
def fork(request: HttpRequest, run_id: int, body: ForkIn) -> Any:
    """Make a run that begins from a checkpoint of the project, with another config if one is named."""
    user, run = caller(request), _run(request, run_id)
    start = resume_points.find(body.checkpoint, project_id=run.project_id)

    def make() -> dict[str, Any]:
        config = run.config if body.config is None else access.config_for(user, body.config)
        made = runs.create_run(
            user=user, project=run.project, config=config, card=run.card, name=body.name or f"{run.name} fork"[:200],
            launcher=run.launcher, parent=run, from_checkpoint=start, reason=body.reason,
        )  # fmt: skip
        if body.launch:
            preflight.launch(run=made, user=user)
        return run_shape(access.run_for(user, made.pk))

    return Status(201, once(request, make))


def _run(request: HttpRequest, run_id: int) -> Run:
    return access.run_for(caller(request), run_id, change=True)


def _answer(request: HttpRequest, run: Run) -> Any:
    return Status(202, run_shape(access.run_for(caller(request), run.pk)))
