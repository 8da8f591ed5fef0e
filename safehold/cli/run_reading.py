"""Looking at a run."""

from typing import Annotated, Any

import typer

from safehold.api_client import ApiClient
from safehold.cli.configs import differences, print_changes
from safehold.cli.output import AsJson, CannotRun, call, lines, pairs, table
from safehold.cli.paging import Cursor, Limit, call_page
from safehold.cli.run_acts import Number, print_run
from safehold.cli.waiting import until
from safehold.cli.watching import Watch, again_and_again

# What the service may say of a run, in the order of its life; `runs.states` has the same words.
ENDS = ("finished", "stopped", "failed", "taken_away", "could_not_start", "lost")
STATES = (
    "draft", "queued", "starting", "running", "pausing", "paused", "stopping", "contact_lost", *ENDS,
)  # fmt: skip


def logs(
    run: Number,
    attempt: Annotated[
        int | None, typer.Option(help="Number of the attempt; the newest when left out.")
    ] = None,
    source: Annotated[
        str | None, typer.Option(help="rank-0, wrapper …; rank-0, or the first one, when left out.")
    ] = None,
    offset: Annotated[
        int | None, typer.Option(min=0, help="From this byte on; else the end.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Print the end of a log."""
    call(
        as_json,
        lambda client: client.get(
            f"runs/{run}/logs", attempt=attempt, source=source, offset=offset
        ),
        lambda answer: lines(answer["text"].rstrip("\n")),
    )


def events(
    run: Number,
    limit: Limit = 50,
    cursor: Cursor = None,
    watch: Watch = None,
    as_json: AsJson = False,
) -> None:
    """Print the timeline, newest first."""
    path = f"runs/{run}/events"
    again_and_again(
        watch, lambda: call_page(as_json, path, _print_events, limit=limit, cursor=cursor)
    )


def wait(
    run: Number,
    state: Annotated[
        str, typer.Option(help="One of these states, with commas; any end when left out.")
    ] = "",
    step: Annotated[int, typer.Option(help="Or at least this step.")] = 0,
    timeout: Annotated[float, typer.Option(min=0, help="Seconds.")] = 600,
    as_json: AsJson = False,
) -> None:
    """Wait until a run is in a state or has reached a step; exit 2 when it does not in time."""
    states = _states(state) if state else set(ENDS)
    call(as_json, lambda client: _wait(client, run, states, step, timeout), print_run)


def lineage(run: Number, as_json: AsJson = False) -> None:
    """Show the checkpoints of a run and what came of them: forks, and runs that took weights of one."""
    call(as_json, lambda client: _lineage(client, run), _print_lineage)


def diff(
    run: Number,
    other: Annotated[int, typer.Argument(help="Id of another run.")],
    as_json: AsJson = False,
) -> None:
    """Show what differs between the configs of two runs, and between the bases that they begin with."""
    call(
        as_json,
        lambda client: differences(client.get(f"runs/{run}/diff", other=other)),
        print_changes,
    )


def record(run: Number, as_json: AsJson = False) -> None:
    """Show what a run was launched with, what it changes and why, and who approved it."""
    call(as_json, lambda client: client.get(f"runs/{run}/record"), _print_record)


def export(run: Number, as_json: AsJson = False) -> None:
    """Print a run with its config and its timeline as one JSON object."""
    call(True, lambda client: _export(client, run), lambda _: None)


def _states(words: str) -> set[str]:
    asked = {word.strip() for word in words.split(",")}
    if unknown := sorted(asked - set(STATES)):
        raise CannotRun(
            f"{unknown[0]!r} is no state of a run, it would never come. States: {', '.join(STATES)}."
        )
    return asked


def _wait(
    client: ApiClient, run: int, states: set[str], step: int, timeout: float
) -> dict[str, Any]:
    return until(
        lambda: client.get(f"runs/{run}"),
        lambda found: found["state"] in states or bool(step and (found["step"] or 0) >= step),
        timeout,
        lambda found: (
            f"Run {run} is {found['state']} at step {found['step']} after {timeout:g} seconds."
        ),
    )


def _lineage(client: ApiClient, run: int) -> dict[str, Any]:
    own = client.get(f"runs/{run}")
    return {
        "began_from": {"checkpoint": own["from_checkpoint"], "takes": own["takes"]}
        if own["from_checkpoint"]
        else None,
        "checkpoints": list(client.all("checkpoints", run=run)),
        "forks": list(client.all("runs", parent=run, shelf="all")),
        "took_weights": list(client.all("runs", weights_of=run, shelf="all")),
    }


def _export(client: ApiClient, run: int) -> dict[str, Any]:
    found = client.get(f"runs/{run}")
    return {
        "run": found,
        "config": client.get(f"configs/{found['config']}"),
        "events": list(client.all(f"runs/{run}/events", limit=200)),
        "checkpoints": list(client.all("checkpoints", run=run)),
    }


def _print_record(found: dict[str, Any]) -> None:
    plain = ("config", "config_hash", "kind", "code_commit", "code_dirty", "image", "data_version",
             "tokenizer_digest", "mix_version", "seed", "base_checkpoint")  # fmt: skip
    told = {name: found[name] for name in plain} | dict(found["libraries"])
    told["nodes"] = ", ".join(found["nodes"])
    if approval := found["approval"]:
        told["approval"] = f"{approval['state']}, {approval['decided_by'] or 'by nobody yet'}"
    if change := found["change"]:
        names = ", ".join(one["title"] for one in change["factors"])
        told["variables changed"] = f"{change['num_factors']}: {names}" if names else 0
        told["because"] = change["reason"]
    pairs(told)


def _print_events(page: dict[str, Any]) -> None:
    table(
        ("at", "attempt", "kind", "message"),
        ((one["at"], one["attempt"], one["kind"], one["message"]) for one in page["items"]),
    )


def _print_lineage(answer: dict[str, Any]) -> None:
    rows = (
        (one["id"], one["run"], one["attempt"], one["step"], one["state"], one["path"])
        for one in answer["checkpoints"]
    )
    if origin := answer["began_from"]:
        what = "the weights" if origin["takes"] == "weights" else "the state"
        lines(f"It began with {what} of checkpoint {origin['checkpoint']}.", "")
    table(("checkpoint", "run", "attempt", "step", "state", "path"), rows)
    lines(
        *(
            f"run {one['id']} began from checkpoint {one['from_checkpoint']}"
            for one in answer["forks"]
        ),
        *(
            f"run {one['id']} began with the weights of checkpoint {one['from_checkpoint']}"
            for one in answer["took_weights"]
        ),
    )
