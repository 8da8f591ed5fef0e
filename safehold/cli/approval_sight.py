"""What an approver sees before a config is approved, and the question whether to."""

from collections.abc import Iterator
from typing import Any

import typer

from safehold.api_client import ApiClient
from safehold.cli.asking import ask, can_ask
from safehold.cli.tables import cell

_MOST_BLOCKING = 10


def confirm(client: ApiClient, config: int, yes: bool) -> int | None:
    """Show what would be approved and go on where a person agrees, or said `--yes` before.

    Returns:
        The request that was shown; None where none was.

    Raises:
        CannotRun: Nobody can be asked, or the answer is no.
    """
    if yes:
        return None
    found = client.get(f"configs/{config}")
    shown = _show(client, config, found) if can_ask() else None
    digest, name = found.get("hash", ""), found.get("name", "")
    ask(cell(f"Approve config {config} ({name}), digest {digest}?"), yes)
    return shown


def _show(client: ApiClient, config: int, found: dict[str, Any]) -> int | None:
    requests = client.get(f"configs/{config}/approvals", limit=1)["items"]
    for line in _sight(client, config, found, requests):
        typer.echo(cell(line), err=True)
    return requests[0]["id"] if requests else None


def _sight(
    client: ApiClient, config: int, found: dict[str, Any], requests: list[dict[str, Any]]
) -> Iterator[str]:
    yield from _asked(requests)
    yield from _judged(client.get(f"configs/{config}/judgement"))
    yield f"Changes: {_changes(client, config, found['parent'])}"


def _asked(approvals: list[dict[str, Any]]) -> Iterator[str]:
    if not approvals:
        yield "Asked by: nobody"
        return
    one = approvals[0]
    yield f"Asked by: {one['requested_by']} ({one['state']})"
    yield f"Note: {one['note'] or '-'}"
    base = one["base_checkpoint"]
    yield f"Begins with: {f'checkpoint {base}' if base else 'fresh weights'}"


def _judged(judgement: dict[str, Any]) -> Iterator[str]:
    report = judgement["report"]
    told = f"{report['verdict']}, report {report['id']}" if report else "was not run"
    yield f"Verdict: {judgement['verdict']} (rules as of now and the newest preflight)"
    yield f"Preflight: {told}"
    for one in judgement["blocking"][:_MOST_BLOCKING]:
        yield f"  blocks: {one['code']}  {one['message']}"


def _changes(client: ApiClient, config: int, parent: int | None) -> str:
    if parent is None:
        return "it follows no other config"
    answer = client.get(f"configs/{parent}/diff", other=config)
    titles = ", ".join(one["title"] for one in answer["factors"])
    return f"against config {parent}: {answer['verdict']}{f' ({titles})' if titles else ''}"
