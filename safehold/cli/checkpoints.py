"""`safehold checkpoint …`."""

from typing import Annotated, Any

import typer

from safehold.api_client import ApiClient
from safehold.cli.output import AsJson, call, pairs, print_report, table
from safehold.cli.waiting import until_verdict

app = typer.Typer(no_args_is_help=False)
Number = Annotated[int, typer.Argument(metavar="CHECKPOINT", help="Id of the checkpoint.")]


@app.command("list")
def list_checkpoints(
    run: Annotated[int | None, typer.Option(help="Only of this run.")] = None,
    state: Annotated[str | None, typer.Option(help="Only in this state.")] = None,
    limit: int = 50,
    as_json: AsJson = False,
) -> None:
    """List the newest checkpoints."""
    call(
        as_json,
        lambda client: client.page("checkpoints", run=run, state=state, limit=limit),
        _print_list,
    )


@app.command()
def show(checkpoint: Number, as_json: AsJson = False) -> None:
    """Show one checkpoint."""
    call(as_json, lambda client: client.get(f"checkpoints/{checkpoint}"), _print_one)


@app.command()
def verify(
    checkpoint: Number,
    wait: Annotated[float, typer.Option(min=0, help="Seconds to wait for the verdict.")] = 60,
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
        ("id", "run", "attempt", "step", "kind", "state", "path"),
        (
            (
                one["id"],
                one["run"],
                one["attempt"],
                one["step"],
                one["kind"],
                one["state"],
                one["path"],
            )
            for one in page["items"]
        ),
    )


def _print_one(one: dict[str, Any]) -> None:
    pairs({key: one.get(key) for key in ("id", "run", "attempt", "step", "kind", "state", "path")})


def _print_lineage(answer: dict[str, Any]) -> None:
    table(
        ("from", "to", "how"),
        (
            (edge["from"], edge["to"], " ".join(filter(None, (edge["kind"], edge.get("takes")))))
            for edge in answer["edges"]
        ),
    )
