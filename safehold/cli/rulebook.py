"""`safehold rulebook …`: the rules in force in a project, and its own bounds."""

from typing import Annotated, Any

import typer

from safehold.api_client import ApiClient, place
from safehold.cli.asking import Seen
from safehold.cli.cards import Project
from safehold.cli.numbers import finite
from safehold.cli.output import AsJson, CannotRun, call, lines, pairs, table

app = typer.Typer(no_args_is_help=False)
Rule = Annotated[str, typer.Argument(metavar="RULE", help="Its id, as the list shows it.")]


@app.command("list")
def list_rules(
    family: Annotated[str, typer.Option(help="Only this family, warmup for instance.")] = "",
    project: Project = None,
    as_json: AsJson = False,
) -> None:
    """List the rules in force with their spans."""

    def read(client: ApiClient) -> dict[str, Any]:
        book = client.get("rulebook", project=project)
        items = [one for one in book["items"] if family in {"", one["family"]}]
        return book | {"items": items}

    call(as_json, read, _print_rules)


@app.command()
def show(rule: Rule, project: Project = None, as_json: AsJson = False) -> None:
    """Show one rule with its reason and source."""

    def read(client: ApiClient) -> dict[str, Any]:
        items = client.get("rulebook", project=project)["items"]
        found = next((one for one in items if one["id"] == rule), None)
        if found is None:
            raise CannotRun(f"There is no rule {rule}; see `safehold rulebook list`.")
        return dict(found)

    call(as_json, read, _print_rule)


@app.command("set")
def set_bounds(
    rule: Rule,
    reason: Annotated[str, typer.Option(help="Why the project differs; kept.")],
    low: Annotated[
        float | None, typer.Option(callback=finite, help="Smallest value inside.")
    ] = None,
    high: Annotated[
        float | None, typer.Option(callback=finite, help="Largest value inside.")
    ] = None,
    project: Project = None,
    seen: Seen = "",
    as_json: AsJson = False,
) -> None:
    """Set the project's own bounds of a rule; a bound left out is none."""
    body = {"low": low, "high": high, "reason": reason, "project": project}
    call(as_json, lambda client: client.change("rulebook", rule, body, version=seen), _print_rule)


@app.command()
def reset(rule: Rule, project: Project = None, as_json: AsJson = False) -> None:
    """Take the bounds of a rule as they are written."""
    call(
        as_json,
        lambda client: client.remove(place("rulebook", rule), project=project),
        lambda _: lines(f"{rule} holds as it is written."),
    )


def _print_rules(book: dict[str, Any]) -> None:
    rows = (
        (
            one["id"],
            one["where"],
            f"{one['span']} {one['unit']}".strip(),
            one["outside"],
            "own" if one["is_own"] else "",
        )
        for one in book["items"]
    )
    table(("rule", "where", "span", "outside", ""), rows)


def _print_rule(rule: dict[str, Any]) -> None:
    shown = (
        "id",
        "field",
        "where",
        "span",
        "unit",
        "outside",
        "reason",
        "advice",
        "source",
        "own_reason",
        "set_by",
    )
    pairs({name: rule[name] for name in shown if rule[name]})
