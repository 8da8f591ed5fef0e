"""The tree of commands."""

from functools import cache
from importlib.metadata import version
from typing import Annotated, Any

import typer
from typer.main import get_command

from safehold.cli import (
    audit,
    cards,
    checkpoints,
    clusters,
    configs,
    members,
    offline,
    projects,
    rulebook,
    runs,
    search,
    service,
    tokens,
    views,
)

app = typer.Typer(
    help="Safehold: plan, prove, launch, watch and trace trainings.",
    no_args_is_help=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


def _tell_version(is_asked: bool) -> None:
    if is_asked:
        print(f"safehold {version('safehold')}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_tell_version, is_eager=True, help="Print the version."),
    ] = False,
) -> None:
    """Plan, prove, launch, watch and trace trainings."""


app.command("up")(service.up)
app.command("demo")(service.demo)
app.command("verify")(offline.verify)
app.command("preflight")(offline.preflight)
app.command("plan")(offline.plan)
app.command("search")(search.search)
app.add_typer(cards.app, name="card", help="Experiment cards.")
app.add_typer(configs.app, name="config", help="Run configs.")
app.add_typer(rulebook.app, name="rulebook", help="The rules that configs are held against.")
app.add_typer(runs.app, name="run", help="Runs.")
app.add_typer(views.app, name="view", help="Lists of runs under a name.")
app.add_typer(checkpoints.app, name="checkpoint", help="The checkpoint registry.")
app.add_typer(clusters.app, name="cluster", help="Clusters in which runs can be launched.")
app.add_typer(projects.app, name="project", help="Projects.")
app.add_typer(members.app, name="member", help="Members of a project and their roles.")
app.add_typer(tokens.app, name="token", help="Your own tokens.")
app.add_typer(audit.app, name="audit", help="Who did what, and whether anybody changed that.")


@cache
def command() -> Any:
    """Return the parser of everything."""
    return get_command(app)
