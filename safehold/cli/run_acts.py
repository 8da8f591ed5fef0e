"""Acts on a run."""

from typing import Annotated, Any

import typer

from safehold.cli.output import AsJson, call, figure, lines, pairs, table
from safehold.cli.tables import count

Number = Annotated[int, typer.Argument(metavar="RUN", help="Id of the run.")]
Reason = Annotated[str, typer.Option(help="Why; kept in the timeline.")]
ChangeReason = Annotated[
    str, typer.Option(help="Why more than one variable changes against the config before; kept.")
]
Waive = Annotated[
    str, typer.Option(help="Why an experiment may start in spite of its preflight; kept.")
]
WeightsFrom = Annotated[
    int | None,
    typer.Option(help="Id of a checkpoint whose weights it begins with; else its card's base."),
]


def launch(
    run: Number,
    waive: Waive = "",
    reason: ChangeReason = "",
    weights_from: WeightsFrom = None,
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
    plain = ("id", "name", "state", "why", "config", "card", "parent", "checkpoint_step")
    told = {key: run.get(key) for key in plain}
    pairs(told | {"step": _of(run), "tokens": count(run.get("tokens")), "loss": figure(run.get("loss"))})  # fmt: skip
    if run.get("attempts"):
        lines("")
        columns = ("attempt", "state", "from", "step", "where", "reason")
        table(columns, map(_attempt_cells, run["attempts"]))


def _of(run: dict[str, Any]) -> str:
    step, total = count(run.get("step")), count(run.get("total_steps"))
    return f"{step or 0} of {total}" if total else step


def _attempt_cells(one: dict[str, Any]) -> tuple[object, ...]:
    origin = f"step {count(one.get('start_step')) or 0}"
    if one.get("from_checkpoint"):
        origin += f", checkpoint {one['from_checkpoint']}"
    if one.get("takes") and one["takes"] != "state":
        origin += f" ({one['takes']})"
    state = one.get("outcome") or one.get("state")
    return (one.get("number"), state, origin, one.get("step"), one.get("where"), one.get("reason"))


def _act(run: int, verb: str, body: dict[str, Any], as_json: bool) -> None:
    call(as_json, lambda client: client.act("runs", run, verb, body), print_run)
