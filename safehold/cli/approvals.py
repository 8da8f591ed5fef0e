"""`safehold config request|approve|reject|withdraw|approvals …`."""

from typing import Annotated, Any

import typer

from safehold.api_client import ApiClient
from safehold.cli.approval_sight import confirm
from safehold.cli.asking import Yes
from safehold.cli.output import AsJson, call, pairs, table
from safehold.cli.paging import Cursor, Limit, call_page

Number = Annotated[int, typer.Argument(metavar="CONFIG", help="Id of the config.")]
Reason = Annotated[str, typer.Option(help="Why; kept with the decision.")]
_SHOWN = ("config", "state", "base_checkpoint", "requested_by", "note", "decided_by", "decided_at", "reason")  # fmt: skip


def request(
    config: Number,
    note: Annotated[str, typer.Option(help="What the approver should know.")] = "",
    as_json: AsJson = False,
) -> None:
    """Ask for the approval of a frozen production config."""
    _act(config, "request-approval", {"note": note}, as_json)


def approve(config: Number, reason: Reason = "", yes: Yes = False, as_json: AsJson = False) -> None:
    """Approve a config as a second person; shows what is approved, and asks."""

    def act(client: ApiClient) -> dict[str, Any]:
        shown = confirm(client, config, yes)
        return client.act("configs", config, "approve", {"reason": reason, "approval": shown})

    call(as_json, act, _print_one)


def reject(config: Number, reason: Reason, as_json: AsJson = False) -> None:
    """Refuse the approval of a config."""
    _act(config, "reject", {"reason": reason}, as_json)


def withdraw(config: Number, reason: Reason, as_json: AsJson = False) -> None:
    """Take a request or an approval back; no further attempt starts."""
    _act(config, "withdraw-approval", {"reason": reason}, as_json)


def approvals(
    config: Number, limit: Limit = 50, cursor: Cursor = None, as_json: AsJson = False
) -> None:
    """List what was asked and answered."""
    path = f"configs/{config}/approvals"
    call_page(as_json, path, _print_all, limit=limit, cursor=cursor)


def _act(config: int, verb: str, body: dict[str, Any], as_json: bool) -> None:
    call(as_json, lambda client: client.act("configs", config, verb, body), _print_one)


def _print_one(approval: dict[str, Any]) -> None:
    pairs({name: approval[name] for name in _SHOWN})


def _print_all(page: dict[str, Any]) -> None:
    table(_SHOWN[1:], ([one[name] for name in _SHOWN[1:]] for one in page["items"]))
