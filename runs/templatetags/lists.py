"""Values handed to scripts through data- attributes."""

import json
from collections.abc import Mapping
from typing import Any

from django import template
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

register = template.Library()


@register.filter
def as_json(value: Any) -> str:
    """Write a value as JSON; the template escapes it for the attribute."""
    return json.dumps(value, ensure_ascii=False, default=str)


@register.filter
def pretty(value: Any) -> str:
    """Write evidence so that a person can read it."""
    return json.dumps(value, indent=2, ensure_ascii=False, default=str)


@register.filter
def get(mapping: Any, key: Any) -> Any:
    """Return `mapping[key]`, or nothing."""
    return mapping.get(key) if mapping else None


@register.filter
def pairs(mapping: Any) -> list[tuple[Any, Any]]:
    """Return the names and values of what others wrote: of `mapping.items` a template takes the entry `items`, if there is one."""
    return list(mapping.items()) if isinstance(mapping, Mapping) else []


_SECTIONS: dict[str, str | Promise] = {
    "": _("General"),
    "network": _("Network"),
    "data": _("Data"),
    "tokenizer": _("Tokenizer"),
    "train": _("Training"),
    "optimizer": _("Optimizer"),
    "checkpoint": _("Checkpoints"),
    "log": _("Logging"),
    "compute": _("Compute"),
    "plan": _("Plan"),
    "code": _("Code"),
    "kubernetes": "Kubernetes",
}


@register.filter
def section_title(name: str) -> str | Promise:
    """Return the heading of a section of a typed document."""
    return _SECTIONS.get(name, name.replace("_", " ").capitalize())


@register.filter
def dashed(path: str) -> str:
    """Return a dotted path as part of an element's id."""
    return path.replace(".", "-")


@register.filter
def line_look(index: int) -> str:
    """Return the class of the look that static/js/charts/looks.js gives the line at a position."""
    dash = index // 6 % 4
    return f"{index % 6 + 1} look-dash-{dash}" if dash else f"{index % 6 + 1}"


_SOURCES = {
    "stated": _("as stated"),
    "learned": _("learned from the cluster"),
    "default": _("as reported elsewhere"),
}


@register.filter
def source_word(source: str) -> str | Promise:
    """Return in words where a number of a forecast comes from."""
    return _SOURCES.get(source, source)
