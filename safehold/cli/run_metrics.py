"""The curves of runs: printed, written to a file, beside each other."""

from pathlib import Path
from typing import Annotated, Any

import typer

from safehold.api_client import ApiClient
from safehold.cli.configs import differences, print_changes
from safehold.cli.output import AsJson, CannotRun, call, figure, lines, table
from safehold.cli.run_acts import Number
from safehold.cli.writing import print_written, write_whole

FORMATS = {".csv": "csv", ".parquet": "parquet", ".tfevents": "tensorboard"}
Names = Annotated[
    list[str] | None,
    typer.Option("--name", help="May be repeated; all names are listed without."),
]


def metrics(
    run: Number,
    name: Names = None,
    x: Annotated[str, typer.Option(help="tokens, step or time.")] = "step",
    points: Annotated[int, typer.Option(min=10, help="At most so many of each.")] = 20,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", help="Write every point to this .csv, .parquet or .tfevents file."
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Print series, or the names there are; with --output write every point to a file."""
    if output is not None:
        call(as_json, lambda client: _write(client, run, name, output), print_written)
        return
    call(
        as_json,
        lambda client: client.get(f"runs/{run}/metrics", names=name or None, x=x, points=points),
        _print_series,
    )


def compare(
    runs: Annotated[list[int], typer.Argument(metavar="RUN…", help="Ids; the first is the base.")],
    name: Annotated[
        list[str] | None, typer.Option("--name", help="May be repeated; the losses when left out.")
    ] = None,
    step: Annotated[
        int | None,
        typer.Option(min=0, help="Where to compare; the last common step when left out."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show what the configs of runs differ in, and what their metrics came to."""
    call(as_json, lambda client: _compared(client, runs, name, step), _print_comparison)


def _write(client: ApiClient, run: int, names: list[str] | None, output: Path) -> dict[str, Any]:
    chosen = FORMATS.get(output.suffix.lower())
    if chosen is None and "tfevents" in output.name:
        chosen = "tensorboard"
    if chosen is None:
        raise CannotRun(f"{output}: name it .csv, .parquet or .tfevents.")
    parts = client.download(f"runs/{run}/metrics/export", format=chosen, names=names or None)
    size = write_whole(output, parts)
    return {"run": run, "path": str(output), "format": chosen, "size_bytes": size}


def _compared(
    client: ApiClient, runs: list[int], names: list[str] | None, step: int | None
) -> dict[str, Any]:
    chosen = names or _usual_names(client, runs[0])
    answer = client.get(
        "comparison", run=runs, names=chosen or None, step=step, x="step", points=10
    )
    # The service leaves out what the caller may not see; here each one was named.
    if missing := sorted(set(runs) - {run["id"] for run in answer["runs"]}):
        raise CannotRun(f"There is no run {missing[0]}, or you are no member of its project.")
    return answer


def _usual_names(client: ApiClient, run: int) -> list[str]:
    known = client.get(f"runs/{run}/metrics")["names"]
    return [name for name in known if name.split("/")[-1] == "loss"][:12]


def _print_series(answer: dict[str, Any]) -> None:
    if not answer["series"]:
        lines(*answer["names"])
    for series in answer["series"]:
        lines(f"{series['name']}: {series['num_points']} points")
        for part in series["parts"]:
            lines(f"attempt {part['attempt']}{', superseded' if part['superseded'] else ''}")
            table((answer["x"], "value"), zip(part["x"], map(figure, part["values"]), strict=True))


def _print_comparison(answer: dict[str, Any]) -> None:
    runs = {run["id"]: run["name"] for run in answer["runs"]}
    at = f"at step {answer['step']}" if answer["step"] is not None else "at step –"
    table(
        ("run", "metric", "last", "smallest", "at its step", at),
        (
            (runs[one["run"]], one["name"], figure(one["final"]), figure(one["least"]), one["least_step"], figure(one["at_step"]))
            for one in answer["results"]
        ),
    )  # fmt: skip
    base, *others = answer["runs"] or [{}]
    for run, diff in zip(others, answer["diffs"], strict=True):
        lines("", f"{base['name']} → {run['name']}")
        print_changes(differences(diff))
