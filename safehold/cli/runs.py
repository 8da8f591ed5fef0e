"""`safehold run …`: make, look at, act on."""

from pathlib import Path
from typing import Annotated, Any

import typer

from safehold.api_client import ApiClient, ApiError
from safehold.cli import run_acts, run_forecast, run_listing, run_metrics, run_reading, run_shelf
from safehold.cli.cards import Project
from safehold.cli.output import AsJson, CannotRun, call
from safehold.cli.reading import read_written
from safehold.cli.run_acts import ChangeReason, Waive, WeightsFrom, print_run

app = typer.Typer(no_args_is_help=False)
for _command in (
    run_acts.launch, run_acts.stop, run_acts.pause, run_acts.save, run_acts.resume, run_acts.fork,
    run_listing.show, run_reading.logs, run_metrics.metrics, run_metrics.compare, run_reading.events, run_reading.wait,
    run_reading.lineage, run_reading.diff, run_reading.record, run_reading.export, run_forecast.forecast,
    run_shelf.label, run_shelf.archive, run_shelf.unarchive, run_shelf.delete, run_shelf.keep,
):  # fmt: skip
    app.command(_command.__name__)(_command)
app.command("list")(run_listing.list_runs)


@app.command()
def create(
    config: Annotated[str, typer.Argument(metavar="CONFIG", help="Id of a config, or a file.")],
    name: Annotated[str, typer.Option(help="Of the run; the config's when left out.")] = "",
    card: Annotated[int | None, typer.Option(help="Id of its card.")] = None,
    launcher: Annotated[
        str, typer.Option(help="local or kubernetes:CLUSTER; that of the config when left out.")
    ] = "",
    launch: Annotated[bool, typer.Option("--launch", help="Launch it at once.")] = False,
    reason: ChangeReason = "",
    waive: Waive = "",
    weights_from: WeightsFrom = None,
    project: Project = None,
    as_json: AsJson = False,
) -> None:
    """Make a run, from a stored config or from a file."""
    begun = {"waiver": waive, "weights_from": weights_from}
    begun = {key: value for key, value in begun.items() if value}
    if begun and not launch:
        raise CannotRun("--waive and --weights-from are of the launch; say --launch too.")

    def act(client: ApiClient) -> dict[str, Any]:
        number = _config_id(client, config, card, project)
        body = {
            "config": number,
            "name": name,
            "card": card,
            "launcher": launcher,
            "reason": reason,
        }
        run = client.create(
            "runs", {key: value for key, value in body.items() if value not in {None, ""}}
        )
        return _launched(client, run["id"], begun) if launch else run

    call(as_json, act, print_run)


def _launched(client: ApiClient, run: int, begun: dict[str, Any]) -> dict[str, Any]:
    """Launch a run that was just made; a refusal leaves it as a draft, so tell how to try again."""
    try:
        return client.act("runs", run, "launch", begun)
    except ApiError:
        typer.echo(f"Run {run} stays a draft; try again by: safehold run launch {run}", err=True)
        raise


def _config_id(client: ApiClient, config: str, card: int | None, project: str | None) -> int:
    if config.isdigit():
        return int(config)
    path = Path(config)
    if not path.suffix:
        raise CannotRun(f"{config} is neither the id of a config nor a file.")
    given = read_written(path) | {"card": card, "project": project}
    made = client.create(
        "configs", {key: value for key, value in given.items() if value is not None}
    )
    return int(made["id"])
