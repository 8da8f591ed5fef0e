"""Acts on a run."""

from typing import Annotated, Any

import typer

from safehold.cli.output import AsJson, call, lines, pairs, table

Number = Annotated[int, typer.Argument(metavar="RUN", help="Id of the run.")]
_ATTEMPT = (
    "number", "state", "outcome", "from_checkpoint", "takes", "start_step", "step", "where", "reason",
)  # fmt: skip
Reason = Annotated[str, typer.Option(help="Why; kept in the timeline.")]
ChangeReason = Annotated[
    str, typer.Option(help="Why more than one variable changes against the config before; kept.")
]


def launch(
    run: Number,
    waive: Annotated[
        str, typer.Option(help="Why an experiment may start in spite of its preflight; kept.")
    ] = "",
    reason: ChangeReason = "",
    weights_from: Annotated[
        int | None,
        typer.Option(help="Id of a checkpoint whose weights it begins with; else its card's base."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Launch a run; refused where preflight fails."""
    given = {"waiver": waive, "reason": reason, "weights_from": weights_from}
    _act(run, "launch", {key: value for key, value in given.items() if value}, as_json)


def stop(
    run: Number,
    force: Annotated[bool, typer.Option("--force", help="Stop at once, without saving.")] = False,
    reason: Reason = "",
    as_json: AsJson = False,
) -> None:
    """Save, then stop."""
    _act(run, "stop", {"force": force, "reason": reason}, as_json)


def pause(run: Number, reason: Reason = "", as_json: AsJson = False) -> None:
    """Save and hold the devices."""
    _act(run, "pause", {"reason": reason}, as_json)


def save(run: Number, as_json: AsJson = False) -> None:
    """Save a checkpoint now and go on."""
    _act(run, "save", {}, as_json)


def resume(
    run: Number,
    checkpoint: Annotated[
        int | None, typer.Option(help="Id of a checkpoint; else the newest good one.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Go on from the newest good checkpoint, or from the one named."""
    _act(run, "resume", {} if checkpoint is None else {"checkpoint": checkpoint}, as_json)


def fork(
    run: Number,
    checkpoint: Annotated[int, typer.Option(help="Id of the checkpoint to begin from.")],
    config: Annotated[
        int | None, typer.Option(help="Id of another config for the new run.")
    ] = None,
    name: Annotated[str, typer.Option(help="Of the new run.")] = "",
    launch: Annotated[bool, typer.Option("--launch", help="Launch it at once.")] = False,
    reason: ChangeReason = "",
    as_json: AsJson = False,
) -> None:
    """Make a new run that begins from a checkpoint of this one."""
    given = {
        "checkpoint": checkpoint,
        "config": config,
        "name": name,
        "launch": launch,
        "reason": reason,
    }
    _act(
        run,
        "fork",
        {key: value for key, value in given.items() if value not in {None, ""}},
        as_json,
    )


def print_run(run: dict[str, Any]) -> None:
    """Print a run for people."""
    pairs(
        {
            key: run.get(key)
            for key in (
                "id",
                "name",
                "state",
                "why",
                "step",
                "tokens",
                "config",
                "parent",
                "from_checkpoint",
                "takes",
            )
        }
    )
    if run.get("attempts"):
        lines("")
        table(_ATTEMPT, ([one.get(key) for key in _ATTEMPT] for one in run["attempts"]))


def _act(run: int, verb: str, body: dict[str, Any], as_json: bool) -> None:
    call(as_json, lambda client: client.act("runs", run, verb, body), print_run)
