"""`safehold checkpoint …`."""

from typing import Annotated, Any

import typer

from safehold.cli.output import AsJson, call, lines, pairs, table

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
def verify(checkpoint: Number, as_json: AsJson = False) -> None:
    """Have the service verify it again."""
    call(as_json, lambda client: client.act("checkpoints", checkpoint, "verify"), _print_one)


@app.command()
def lineage(checkpoint: Number, as_json: AsJson = False) -> None:
    """Show where it came from and what was made from it."""
    call(as_json, lambda client: client.get(f"checkpoints/{checkpoint}/lineage"), _print_lineage)


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
    for part in ("ancestors", "children"):
        lines(*(f"{part}: {one}" for one in answer.get(part, [])))
