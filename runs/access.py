"""How a view, an API call or a socket gets an object: only through the rights of the person."""

from typing import TypeVar

from django.db.models import Model, QuerySet
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from controlplane.common import access
from controlplane.common.errors import NotFound
from controlplane.common.models import User
from controlplane.common.rights import CHANGES, READ
from runs.models import Attempt, Card, Config, PreflightReport, Run

Object = TypeVar("Object", bound=Model)
# What is read where the object is missing, and by an outsider where it is not.
_MISSING = {
    "run": gettext_noop("There is no run %(pk)s, or you are no member of its project."),
    "attempt": gettext_noop("There is no attempt %(pk)s, or you are no member of its project."),
    "card": gettext_noop("There is no card %(pk)s, or you are no member of its project."),
    "config": gettext_noop("There is no config %(pk)s, or you are no member of its project."),
    "preflight report": gettext_noop(
        "There is no preflight report %(pk)s, or you are no member of its project."
    ),
}


def run_for(user: User, run_id: int, *, change: bool = False, act: str = "") -> Run:
    """Return the run that this person may see, or with `change` may act on.

    Args:
        user: Who asks.
        run_id: Any number.
        change: Whether it is to be changed somehow.
        act: How, as in `controlplane.common.rights`; needed where not every operator may.

    Raises:
        NotFound: There is none, or the person is no member of its project.
        Forbidden: The person may see it, but not act.
    """
    found = _one(Run.objects.select_related("project", "card", "config"), run_id, "run")
    _require(user, found.project_id, _needed("run", change, act), "run", run_id)
    return found


def attempt_for(user: User, attempt_id: int, *, change: bool = False, act: str = "") -> Attempt:
    """Return the attempt with its run; the rights are those of `run_for`."""
    found = _one(Attempt.objects.select_related("run__project"), attempt_id, "attempt")
    _require(user, found.run.project_id, _needed("attempt", change, act), "attempt", attempt_id)
    return found


def card_for(user: User, card_id: int, *, change: bool = False, act: str = "") -> Card:
    """Return the card; the rights are those of `run_for`."""
    found = _one(Card.objects.select_related("project", "owner"), card_id, "card")
    _require(user, found.project_id, _needed("card", change, act), "card", card_id)
    return found


def config_for(user: User, config_id: int, *, change: bool = False, act: str = "") -> Config:
    """Return the config; the rights are those of `run_for`."""
    found = _one(Config.objects.select_related("project", "card"), config_id, "config")
    _require(user, found.project_id, _needed("config", change, act), "config", config_id)
    return found


def report_for(
    user: User, report_id: int, *, change: bool = False, act: str = ""
) -> PreflightReport:
    """Return the preflight report; the rights are those of `run_for`."""
    reports = PreflightReport.objects.select_related("config__project")
    found = _one(reports, report_id, "preflight report")
    _require(
        user,
        found.config.project_id,
        _needed("preflight report", change, act),
        "preflight report",
        report_id,
    )
    return found


def _needed(noun: str, change: bool, act: str) -> str:
    return act or (CHANGES[noun] if change else READ)


def _require(user: User, project_id: int, act: str, noun: str, pk: int) -> None:
    """Pass or raise; an outsider reads the very words that a missing object gives."""
    try:
        access.require(user, project_id, act)
    except NotFound:
        raise _not_found(noun, pk) from None


def _not_found(noun: str, pk: int) -> NotFound:
    return NotFound(_(_MISSING[noun]) % {"pk": pk})


def _one(objects: QuerySet[Object], pk: int, noun: str) -> Object:
    found = objects.filter(pk=pk).first()
    if found is None:
        raise _not_found(noun, pk)
    return found
