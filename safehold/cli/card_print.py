"""Cards, their sums and what their runs reached, as tables."""

from typing import Annotated, Any

import typer

from safehold.cli.output import figure, lines, pairs, table
from safehold.cli.tables import duration, size

Number = Annotated[int, typer.Argument(metavar="CARD", help="Id of the card.")]


def cards(page: dict[str, Any]) -> None:
    """Print a list."""
    columns = ("id", "name", "stage", "owner")
    table((*columns, "pilot"), ([one[key] for key in (*columns, "pilot")] for one in page["items"]))


def card(found: dict[str, Any]) -> None:
    """Print one card with its sums."""
    shown = {key: found[key] for key in ("id", "name", "stage", "question", "owner")}
    if found.get("parent"):
        shown["made from"] = f"card {found['parent']} ({found['pilot']})"
    if found["missing_agreements"]:
        shown["lacks"] = ", ".join(found["missing_agreements"])
    pairs(shown | sums_of(found["sums"]))
    _advice(found["sums"])


def sums(found: dict[str, Any]) -> None:
    """Print what fields come to."""
    pairs(sums_of(found))
    _advice(found)


def sums_of(found: dict[str, Any]) -> dict[str, str]:
    """Return the sums that are known, by their names."""
    compute, memory, forecast = found["compute"], found["memory"], found["forecast"]
    shown: dict[str, str] = {}
    if found["parameters"]:
        shown["parameters"] = f"{found['parameters']:.4g}"
        if found["active_parameters"] != found["parameters"]:
            shown["parameters"] += f", {found['active_parameters']:.4g} active"
    if compute:
        shown["FLOPs"] = f"{compute['flops']:.3g}"
        shown["device-days"] = f"{compute['device_days']:.4g}"
        shown["wall time"] = (
            f"{duration(compute['wall_days'])} ({duration(compute['wall_days_low'])} to {duration(compute['wall_days_high'])})"
        )
    if memory:
        shown["memory of a device"] = f"{size(memory['total_bytes'])} ({memory['fit']})"
    if found["starting_loss"]:
        shown["starting loss"] = f"{found['starting_loss']:.2f}"
    return shown | (_forecast(forecast) if forecast else {})


def changes(page: dict[str, Any]) -> None:
    """Print a trail."""
    columns = ("at", "user", "field", "old", "new", "reason")
    table(
        ("at", "who", "field", "old", "new", "why"),
        ([one[key] for key in columns] for one in page["items"]),
    )


def results(answer: dict[str, Any]) -> None:
    """Print runs metric by metric."""
    rows = []
    for one in answer["items"]:
        head = [one["run"], one["name"], one["state"], _verdict(one)]
        for metric in one["metrics"] or [None]:
            rows.append([*head, *_metric(metric)])
            head = ["", "", "", ""]
    table(("run", "name", "state", "verdict", "metric", "asked", "measured", ""), rows)


def pilot(answer: dict[str, Any]) -> None:
    """Print a pilot that was made."""
    card(answer["card"])
    if answer["config"]:
        lines(f"Config {answer['config']['id']} was made for it.")


def mixes(answer: dict[str, Any]) -> None:
    """Print mixes in their places."""
    if answer["written"]:
        lines(f"Configs written: {', '.join(answer['written'])}.")
    table(
        ("place", "mix", "shares", "values", "mean rank"),
        (
            (
                one["place"],
                one["name"],
                ", ".join(f"{name} {share:g}" for name, share in one["shares"].items()),
                ", ".join(f"{name} {value:g}" for name, value in one["values"].items()),
                one["mean_rank"],
            )
            for one in answer["items"]
        ),
    )


def _forecast(forecast: dict[str, Any]) -> dict[str, str]:
    names = ("ettr_job_wall_clock", "ettr_availability", "ettr_effective_training_time")
    wall, available, effective = (f"{forecast[name]:.3f}" for name in names)
    return {
        "steps": f"{forecast['steps']:,} of {forecast['step_seconds']:.3g} s",
        "ETTR": f"{wall} job wall clock, {available} availability, {effective} effective training time",
        "anchors": f"every {forecast['anchor_every_steps']:,} steps",
    }


def _advice(found: dict[str, Any]) -> None:
    lines(*(f"{one['severity']}: {one['message']} {one['advice']}".rstrip() for one in found["advice"]))  # fmt: skip


def _verdict(one: dict[str, Any]) -> str:
    moved = ", bounds changed since the launch" if one["acceptance_changed_since_launch"] else ""
    return f"{one['verdict']}{'' if one['is_final'] else ' so far'}{moved}"


def _metric(metric: dict[str, Any] | None) -> list[object]:
    if metric is None:
        return ["", "", "", ""]
    asked = f"{metric['comparator']} {metric['threshold']:g}"
    name = f"{metric['split']}/{metric['metric']}"
    return [name, asked, figure(metric["value"]), metric["judgement"]]
