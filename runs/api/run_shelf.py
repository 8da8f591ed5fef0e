"""A run as a record: what is written on it, the archive, deletion after a time of grace.

`label` and `delete` are routed in `runs.api.runs`: the operations of one path stand in one router.
"""

from typing import Any

from django.http import HttpRequest, HttpResponse
from ninja import Router, Status
from pydantic import Field

from controlplane.common.api import Input, caller, mark, seen_version
from runs import access
from runs.api.schemas import RunDetailOut
from runs.api.shapes import run_shape
from runs.services import run_labels, run_shelf

router = Router(tags=["runs"])


class LabelsIn(Input):
    """What is given replaces what was; what is left out or null stays."""

    name: str | None = Field(None, min_length=1, max_length=200)
    group: str | None = Field(None, max_length=120, description="Empty: in no group.")
    tags: list[str] | None = Field(None, description="All of them; one word each.")
    notes: str | None = Field(None, max_length=run_labels.NOTES_LENGTH)


def label(request: HttpRequest, response: HttpResponse, run_id: int, body: LabelsIn) -> Any:
    """Change what people write on a run."""
    run = access.run_for(caller(request), run_id)
    seen = seen_version(request)
    run_labels.label_run(run=run, user=caller(request), seen=seen, **body.dict())
    answer = _answer(request, run_id)
    mark(response, answer["version"])
    return answer


@router.post("/{run_id}/archive", response=RunDetailOut, summary="Archive a run")
def archive(request: HttpRequest, run_id: int) -> Any:
    """Take a run that has ended out of the usual lists."""
    run_shelf.archive_run(run=access.run_for(caller(request), run_id), user=caller(request))
    return _answer(request, run_id)


@router.post(
    "/{run_id}/unarchive", response=RunDetailOut, summary="Bring a run back from the archive"
)
def unarchive(request: HttpRequest, run_id: int) -> Any:
    """Bring an archived run back; one that was to be deleted is kept."""
    run_shelf.unarchive_run(run=access.run_for(caller(request), run_id), user=caller(request))
    return _answer(request, run_id)


def delete(request: HttpRequest, run_id: int) -> Any:
    """Mark an archived run: metrics, logs and samples go at `delete_after`; record and checkpoints stay. For admins."""
    run_shelf.request_deletion(run=access.run_for(caller(request), run_id), user=caller(request))
    return Status(202, _answer(request, run_id))


@router.post("/{run_id}/keep", response=RunDetailOut, summary="Keep a run from being deleted")
def keep(request: HttpRequest, run_id: int) -> Any:
    """Take back that a run is to be deleted. For admins."""
    run_shelf.keep_run(run=access.run_for(caller(request), run_id), user=caller(request))
    return _answer(request, run_id)


def _answer(request: HttpRequest, run_id: int) -> dict[str, Any]:
    return run_shape(access.run_for(caller(request), run_id))
