"""`safehold cluster …`: where runs can be launched."""

import json
import os
from pathlib import Path
from typing import Annotated, Any

import typer

from safehold.api_client import place
from safehold.cli.asking import Yes, ask
from safehold.cli.output import AsJson, CannotRun, call, lines, pairs, table
from safehold.kubeconfig import KubeconfigError, cluster_name, flattened

app = typer.Typer(no_args_is_help=False)
Name = Annotated[str, typer.Argument(metavar="NAME", help="Of the cluster.")]


@app.command("list")
def list_clusters(as_json: AsJson = False) -> None:
    """List the clusters with what is free there."""
    call(as_json, lambda client: client.get("clusters"), _print_list)


@app.command()
def show(name: Name, as_json: AsJson = False) -> None:
    """Show one cluster with its nodes and what waits there."""
    call(as_json, lambda client: client.get(place("clusters", name)), _print_one)


@app.command()
def register(
    name: Annotated[
        str, typer.Argument(metavar="[NAME]", help="That of the context when left out.")
    ] = "",
    image: Annotated[str, typer.Option(help="Trainer image for configs that name none.")] = "",
    kubeconfig: Annotated[
        Path | None, typer.Option(help="File; KUBECONFIG when left out. Files it names are put in.")
    ] = None,
    context: Annotated[str, typer.Option(help="Of the kubeconfig; else its current one.")] = "",
    namespace: Annotated[str, typer.Option(help="Else that of the context.")] = "",
    ingest_url: Annotated[str, typer.Option(help="This service as pods see it.")] = "",
    as_json: AsJson = False,
) -> None:
    """Register a cluster, or give one new credentials and settings."""
    document = _document(kubeconfig, context)
    body = {
        "name": name or cluster_name(document["current-context"]),
        "way": "kubeconfig", "kubeconfig": json.dumps(document), "image": image,
        "namespace": namespace, "ingest_url": ingest_url,
    }  # fmt: skip
    call(as_json, lambda client: client.create("clusters", body), _print_one)


@app.command("test")
def look(name: Name, as_json: AsJson = False) -> None:
    """Look at a cluster now."""
    call(as_json, lambda client: client.post(place("clusters", name, "test")), _print_one)


@app.command()
def remove(name: Name, yes: Yes = False, as_json: AsJson = False) -> None:
    """Forget a cluster that no run uses, with its credentials."""
    ask(f"Forget cluster {name} and its credentials?", yes)
    call(
        as_json, lambda client: client.remove(place("clusters", name)), lambda _: lines("Removed.")
    )


def _document(path: Path | None, context: str) -> dict[str, Any]:
    named = str(path) if path else os.environ.get("KUBECONFIG", "")
    if not named:
        raise CannotRun("Which cluster? Give --kubeconfig FILE, or set KUBECONFIG.")
    try:
        return flattened(named, context)
    except KubeconfigError as error:
        raise CannotRun(str(error)) from error


def _print_list(answer: dict[str, Any]) -> None:
    rows = (
        (one["name"], one["state"], one["version"], _devices(one), len(one["waiting"]), one["reason"])
        for one in answer["items"]
    )  # fmt: skip
    table(("name", "state", "version", "free", "waiting", "reason"), rows)


def _print_one(one: dict[str, Any]) -> None:
    shown = ("name", "state", "reason", "version", "namespace", "image", "ingest_url")
    pairs(
        {key: one[key] for key in shown}
        | {"free": _devices(one), "queues": ", ".join(one["queues"])}
    )
    for run in one["waiting"]:
        lines(f"run {run['run']} waits: {run['why'] or run['state']}")
    if one["nodes"]:
        table(
            ("node", "state", "device", "devices", "ours", "reason"),
            (
                (node["name"], node["state"], node["device"], node["num_devices"], node["num_ours"], node["reason"])
                for node in one["nodes"]
            ),
        )  # fmt: skip


def _devices(one: dict[str, Any]) -> str:
    return ", ".join(f"{kind['free']} of {kind['total']} {kind['name']}" for kind in one["devices"])
