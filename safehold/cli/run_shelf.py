"""Runs as records: what is written on them, the archive, deletion after a time of grace."""

from collections.abc import Callable
from typing import Annotated, Any

import typer

from safehold.api_client import ApiClient, ApiError
from safehold.cli.asking import Seen, Yes, ask
from safehold.cli.output import AsJson, CannotRun, call, lines
from safehold.cli.run_acts import Number, print_run
from safehold.cli.tables import cell

_CHANGED = 412
Runs = Annotated[list[int], typer.Argument(metavar="RUN…", help="Ids of runs.")]


def label(
    runs: Runs,
    name: Annotated[str | None, typer.Option(help="Of the one run.")] = None,
    group: Annotated[str | None, typer.Option(help="Empty: in no group.")] = None,
    tag: Annotated[
        list[str] | None, typer.Option("--tag", help="One more; may be repeated.")
    ] = None,
    untag: Annotated[
        list[str] | None, typer.Option("--untag", help="One less; may be repeated.")
    ] = None,
    notes: Annotated[str | None, typer.Option(help="Of the one run.")] = None,
    seen: Seen = "",
    as_json: AsJson = False,
) -> None:
    """Name, group, tag and annotate runs."""
    if len(runs) > 1 and (name is not None or notes is not None or seen):
        raise CannotRun("A name, notes and a version are those of one run.")
    plain = {"name": name, "group": group, "notes": notes}
    given = {field: value for field, value in plain.items() if value is not None}

    def act(client: ApiClient, run: int) -> dict[str, Any]:
        if not (tag or untag):
            return client.change("runs", run, given, version=seen)
        return _retagged(client, run, given, set(untag or []), list(tag or []), seen)

    _each(runs, act, as_json)


def archive(runs: Runs, as_json: AsJson = False) -> None:
    """Take runs that have ended out of the usual lists."""
    _each(runs, lambda client, run: client.act("runs", run, "archive"), as_json)


def unarchive(runs: Runs, as_json: AsJson = False) -> None:
    """Bring archived runs back."""
    _each(runs, lambda client, run: client.act("runs", run, "unarchive"), as_json)


def delete(
    run: Number,
    yes: Yes = False,
    as_json: AsJson = False,
) -> None:
    """Have the metrics and logs of an archived run deleted after the time of grace; for admins."""

    def act(client: ApiClient) -> dict[str, Any]:
        found = client.get(f"runs/{run}")
        ask(
            f"Delete metrics, logs and samples of run {run} ({found['name']})? Its record and checkpoints stay.",
            yes,
        )
        return client.remove(f"runs/{run}")

    call(
        as_json,
        act,
        lambda told: lines(
            f"Run {run} goes on {cell(told['delete_after'])}; keep it with: safehold run keep {run}"
        ),
    )


def keep(run: Number, as_json: AsJson = False) -> None:
    """Take back that a run is to be deleted; for admins."""
    call(as_json, lambda client: client.act("runs", run, "keep"), print_run)


def _retagged(
    client: ApiClient, run: int, given: dict[str, Any], gone: set[str], fresh: list[str], seen: str
) -> dict[str, Any]:
    """Give and take tags; where somebody else does so at the same time, over what they left."""
    for is_last in (False, False, True):
        found = client.get(f"runs/{run}")
        tags = [one for one in found["tags"] if one not in gone] + fresh
        try:
            body = given | {"tags": tags}
            return client.change("runs", run, body, version=seen or found["version"])
        except ApiError as error:
            if error.status != _CHANGED or seen or is_last:
                raise
    raise AssertionError


def _each(runs: list[int], act: Callable[[ApiClient, int], dict[str, Any]], as_json: bool) -> None:
    def all_of_them(client: ApiClient) -> dict[str, Any]:
        return {"items": [act(client, run) for run in runs]}

    call(as_json, all_of_them, lambda answer: lines(*map(_line, answer["items"])))


def _line(run: dict[str, Any]) -> str:
    parts = [f"run {run['id']}", run["name"], f"in {run['group']}" if run["group"] else ""]
    parts += [f"#{tag}" for tag in run["tags"]] + (["archived"] if run["archived_at"] else [])
    return " ".join(filter(None, parts))
