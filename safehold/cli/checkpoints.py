"""`safehold checkpoint …`."""

from typing import Annotated, Any

import typer

from safehold.api_client import ApiClient
from safehold.cli.output import AsJson, call, pairs, print_report, table
from safehold.cli.paging import Cursor, Limit, call_page
from safehold.cli.tables import size
from safehold.cli.waiting import Wait, until_verdict
from safehold.cli.watching import Watch, again_and_again

app = typer.Typer(no_args_is_help=False)
Number = Annotated[int, typer.Argument(metavar="CHECKPOINT", help="Id of the checkpoint.")]


@app.command("list")
def list_checkpoints(
    run: Annotated[int | None, typer.Option(help="Only of this run.")] = None,
    state: Annotated[str | None, typer.Option(help="Only in this state.")] = None,
    limit: Limit = 50,
    cursor: Cursor = None,
    as_json: AsJson = False,
) -> None:
    """List the newest checkpoints."""
    filters = {"run": run, "state": state, "limit": limit, "cursor": cursor}
    call_page(as_json, "checkpoints", _print_list, **filters)


@app.command()
def show(checkpoint: Number, watch: Watch = None, as_json: AsJson = False) -> None:
    """Show one checkpoint."""
    path = f"checkpoints/{checkpoint}"
    again_and_again(watch, lambda: call(as_json, lambda client: client.get(path), _print_one))


@app.command()
def verify(
    checkpoint: Number,
    wait: Wait = 60,
    as_json: AsJson = False,
) -> None:
    """Have the service verify it again, and show the findings."""
    call(as_json, lambda client: _verify(client, checkpoint, wait), print_report)


@app.command()
def lineage(checkpoint: Number, as_json: AsJson = False) -> None:
    """Show where it came from and what was made from it."""
    call(as_json, lambda client: client.get(f"checkpoints/{checkpoint}/lineage"), _print_lineage)


def _verify(client: ApiClient, checkpoint: int, wait: float) -> dict[str, Any]:
    asked = client.act("checkpoints", checkpoint, "verify")["id"]

    def fetch() -> dict[str, Any]:
        proofs = client.get(f"checkpoints/{checkpoint}")["verifications"]
        return next(proof for proof in proofs if proof["id"] == asked)

    return until_verdict(fetch, wait, f"Verification {asked} of checkpoint {checkpoint}")


def _print_list(page: dict[str, Any]) -> None:
    table(
        ("id", "run", "attempt", "step", "kind", "state", "size", "path"),
        (
            (
                one["id"],
                one["run"],
                one["attempt"],
                one["step"],
                one["kind"],
                one["state"],
                size(one["size_bytes"]),
                one["path"],
            )
            for one in page["items"]
        ),
    )


def _print_one(one: dict[str, Any]) -> None:
    shown = ("id", "run", "attempt", "step", "kind", "state", "error", "is_pinned", "saved_at", "verified_at", "path")  # fmt: skip
    pairs({key: one.get(key) for key in shown} | {"size": size(one.get("size_bytes"))})


def _print_lineage(answer: dict[str, Any]) -> None:
    table(
        ("from", "to", "how"),
        (
            (edge["from"], edge["to"], " ".join(filter(None, (edge["kind"], edge.get("takes")))))
            for edge in answer["edges"]
        ),
    )
