"""Freeze, ask for approval, approve, refuse, take back: one address for each, a plain POST form behind every button."""

from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from controlplane.common.api import caller
from controlplane.common.errors import Conflict, SafeholdError
from controlplane.common.models import User
from runs import access
from runs.models import Approval, Config
from runs.services import approvals, changes, configs


def _freeze(user: User, config: Config, text: str, shown: str) -> None:
    configs.freeze(user=user, config=config)


def _request(user: User, config: Config, text: str, shown: str) -> None:
    approvals.request_approval(user=user, config=config, note=text)


def _approve(user: User, config: Config, text: str, shown: str) -> None:
    approvals.approve(user=user, approval=_standing(config, shown), reason=text)


def _reject(user: User, config: Config, text: str, shown: str) -> None:
    approvals.reject(user=user, approval=_standing(config, shown), reason=text)


def _withdraw(user: User, config: Config, text: str, shown: str) -> None:
    approvals.withdraw(user=user, approval=_standing(config, shown), reason=text)


_ACTS: dict[str, Callable[[User, Config, str, str], None]] = {
    "freeze": _freeze, "request-approval": _request, "approve": _approve, "reject": _reject,
    "withdraw": _withdraw,
}  # fmt: skip


@require_POST
def act(request: HttpRequest, config_id: int, act: str) -> HttpResponse:
    if act not in _ACTS:
        raise Http404
    config = access.config_for(caller(request), config_id)
    text = request.POST.get("reason", "").replace("\x00", "")[:2000]
    try:
        _ACTS[act](caller(request), config, text, request.POST.get("approval", ""))
    except SafeholdError as error:
        messages.error(request, " ".join(filter(None, [error.message, error.hint])))
    else:
        messages.success(request, _said(act))
    return redirect("runs:config_detail", config.pk)


@require_POST
def give_reason(request: HttpRequest, run_id: int) -> HttpResponse:
    """Keep why a run changes more than one variable."""
    run = access.run_for(caller(request), run_id, change=True)
    text = request.POST.get("reason", "").replace("\x00", "")[:2000]
    changes.give_reason(run=run, user=caller(request), reason=text)
    return redirect("runs:run_proof", run.pk)


def _standing(config: Config, shown: str) -> Approval:
    """Return the request that stands, where it is the one that the page showed."""
    found = approvals.standing_of(config)
    if found is None:
        told = _("Nobody asked for the approval of config %(id)s.")
        raise Conflict(told % {"id": config.pk})
    approvals.require_shown(found, shown)
    return found


def _said(act: str) -> Any:
    return {
        "freeze": _("The config is frozen: nothing can change it any more."),
        "request-approval": _("Approval asked for. Another person has to give it."),
        "approve": _("The config is approved."),
        "reject": _("The approval was refused."),
        "withdraw": _("The approval was taken back; no further attempt starts."),
    }[act]
