"""Label and field selectors as list and watch take them."""

import re
from collections.abc import Callable
from typing import Any

Json = dict[str, Any]
_SET = re.compile(r"^(\S+)\s+(in|notin)\s+\(([^)]*)\)$")


def matcher(label_selector: str, field_selector: str) -> Callable[[Json], bool]:
    """Return the predicate over objects; both selectors may be empty."""
    labels = [_label_rule(part) for part in _split(label_selector)]
    fields = [_field_rule(part) for part in field_selector.split(",") if part]
    return lambda item: all(rule(item) for rule in [*labels, *fields])


def _split(selector: str) -> list[str]:
    return [part.strip() for part in re.split(r",(?![^(]*\))", selector) if part.strip()]


def _labels(item: Json) -> Json:
    return item["metadata"].get("labels") or {}


def _label_rule(part: str) -> Callable[[Json], bool]:
    if match := _SET.match(part):
        key, operator, listed = match.groups()
        values = {value.strip() for value in listed.split(",")}
        return lambda item: (_labels(item).get(key) in values) is (operator == "in")
    if "!=" in part:
        key, value = part.split("!=", 1)
        return lambda item: _labels(item).get(key) != value
    if "=" in part:
        key, value = re.split("==?", part, maxsplit=1)
        return lambda item: _labels(item).get(key) == value
    if part.startswith("!"):
        return lambda item: part[1:] not in _labels(item)
    return lambda item: part in _labels(item)


def _field_rule(part: str) -> Callable[[Json], bool]:
    is_negated = "!=" in part
    path, value = re.split("!=|==?", part, maxsplit=1)

    def rule(item: Json) -> bool:
        found: Any = item
        for step in path.split("."):
            found = (found or {}).get(step)
        return (str(found if found is not None else "") == value) is not is_negated

    return rule
