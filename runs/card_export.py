"""A card with its sums, its trail and what its runs reached, as plain values and as Markdown (CARD-4)."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from runs import estimates, results
from runs.models import Card
from runs.results import Result
from runs.templatetags.lists import as_json
from safehold.config import FieldSpec, fields_of
from safehold.config.diff import flatten
from safehold.planning import CardFields, read_kept

_RUNS = 50
_SPECS: Mapping[str, FieldSpec] = {spec.path: spec for spec in fields_of(CardFields)}
_TITLES = {
    "": "Question and acceptance",
    "network": "Network",
    "data": "Data",
    "compute": "Compute",
    "plan": "Plan",
}


def document_of(card: Card) -> dict[str, Any]:
    """Return the card, its sums and its whole trail, oldest change first, as JSON values."""
    fields = read_kept(card.data)
    trail = card.changes.select_related("user").order_by("pk")
    found = results.results_of(card, card.runs.order_by("-pk")[:_RUNS])
    return {
        "id": card.pk,
        "project": card.project.slug,
        "name": card.name,
        "question": card.question,
        "stage": card.stage,
        "parent": card.parent_id,
        "pilot": card.pilot,
        "data": fields.model_dump(mode="json"),
        "sums": estimates.of_kept(card).to_dict(),
        "owner": card.owner.username,
        "created_at": card.created_at.isoformat(),
        "updated_at": card.updated_at.isoformat(),
        "runs": [result_document(one) for one in found],
        "changes": [
            {
                "at": change.at.isoformat(), "user": change.user.username, "field": change.field,
                "old": change.old, "new": change.new, "reason": change.reason,
            }
            for change in trail
        ],
    }  # fmt: skip


def result_document(result: Result) -> dict[str, Any]:
    """Return the judgement of one run as JSON values."""
    return {
        "run": result.row.run.pk,
        "name": result.row.run.name,
        "state": result.row.shown.word,
        "verdict": result.verdict,
        "is_final": result.is_final,
        "acceptance_changed_since_launch": result.is_moved,
        "metrics": [
            {
                "metric": one.acceptance.metric, "split": one.acceptance.split,
                "comparator": one.acceptance.comparator, "threshold": one.acceptance.threshold,
                "value": _plain(one.measured.value) if one.measured else None,
                "step": one.measured.step if one.measured else None, "judgement": one.judgement,
            }
            for one in result.judged
        ],
    }  # fmt: skip


def as_markdown(document: Mapping[str, Any]) -> str:
    """Return what `document_of` gave as a page to read, to keep beside a paper or a ticket."""
    parts = [
        f"# {_line(document['name'])}",
        f"{_line(document['question'])}\n" if document["question"] else "",
        f"Card {document['id']} of {document['project']}, {document['stage']}, {document['owner']},"
        f" {document['updated_at'][:10]}.\n",
        *_sections(document["data"]),
        _table("Sums", ("what", "value"), _sums(document["sums"])),
        _table("Runs", ("run", "state", "verdict", "metrics"), _runs(document["runs"])),
        _table("Changes", ("when", "who", "field", "old", "new", "why"), _changes(document["changes"])),
    ]  # fmt: skip
    return "\n".join(part for part in parts if part)


def _sections(data: Mapping[str, Any]) -> list[str]:
    values = flatten(data)
    found = []
    for section, title in _TITLES.items():
        rows = [
            (spec.title, f"{_value(values.get(path))} {spec.unit}".strip())
            for path, spec in _SPECS.items()
            if spec.section == section and _is_known(values.get(path))
        ]
        rows += [
            (f"Domain {name}", f"{tokens:,} tokens")
            for name, tokens in (data["data"]["domains"].items() if section == "data" else ())
        ]
        found.append(_table(title, ("field", "value"), rows))
    return found


def _is_known(value: Any) -> bool:
    """Say whether a field was filled in; a flag always says something."""
    return isinstance(value, bool) or value not in (None, "", 0, [], {})


def _value(value: Any) -> str:
    if isinstance(value, list):
        return "; ".join(_acceptance(one) for one in value)
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:g}" if isinstance(value, float) else str(value)


def _acceptance(one: Mapping[str, Any]) -> str:
    return f"{one['metric']} {one['split']} {one['comparator']} {one['threshold']:g}"


def _sums(sums: Mapping[str, Any]) -> list[tuple[str, str]]:
    compute, memory, forecast = sums["compute"] or {}, sums["memory"] or {}, sums["forecast"] or {}
    rows = [
        ("Parameters", _number(sums["parameters"])),
        ("Active parameters", _number(sums["active_parameters"])),
        ("FLOPs", _number(compute.get("flops"))),
        ("Device-days", _number(compute.get("device_days"))),
        ("Wall days", _number(compute.get("wall_days"))),
        ("Memory of a device", f"{memory['total_bytes'] / 1e9:.3g} GB, {memory['fit']}" if memory else ""),
        ("Starting loss", _number(sums["starting_loss"])),
        ("Expected useful time (job wall clock)", _number(forecast.get("ettr_job_wall_clock"))),
        ("Expected useful time (availability)", _number(forecast.get("ettr_availability"))),
        ("Expected useful time (effective training time)", _number(forecast.get("ettr_effective_training_time"))),
        ("Advised steps between anchors", _number(forecast.get("anchor_every_steps"))),
    ]  # fmt: skip
    return [row for row in rows if row[1]]


def _runs(runs: Iterable[Mapping[str, Any]]) -> list[tuple[str, ...]]:
    return [
        (
            f"{one['run']} {one['name']}",
            one["state"],
            one["verdict"] if one["is_final"] else f"{one['verdict']} so far",
            "; ".join(
                f"{metric['split']}/{metric['metric']} = {_number(metric['value']) or '?'}"
                f" ({metric['comparator']} {metric['threshold']:g})"
                for metric in one["metrics"]
            ),
        )
        for one in runs
    ]


def _changes(changes: Iterable[Mapping[str, Any]]) -> list[tuple[str, ...]]:
    return [
        (
            f"{one['at'][:19]}Z",
            one["user"],
            one["field"],
            as_json(one["old"]),
            as_json(one["new"]),
            one["reason"],
        )
        for one in changes
    ]


def _table(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    if not rows:
        return ""
    lines = [columns, ["---"] * len(columns), *rows]
    return f"## {title}\n\n" + "".join(
        f"| {' | '.join(_line(cell) for cell in line)} |\n" for line in lines
    )


def _line(text: str) -> str:
    """Keep a text within its cell and what it holds from being read as Markdown."""
    return " ".join(text.split()).replace("\\", "\\\\").replace("|", "\\|")


def _number(value: Any) -> str:
    if not isinstance(value, int | float):
        return str(value) if value else ""
    return f"{value:,}" if isinstance(value, int) else f"{value:.4g}"


def _plain(value: float) -> float | str:
    """Return a value as JSON can carry it."""
    return value if abs(value) < float("inf") else str(value)
