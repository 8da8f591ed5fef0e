"""Values as a trainer or a manifest has them, written as people read them: never as Python writes them."""

from collections.abc import Mapping
from typing import Any

from django import template
from django.utils.translation import gettext as _

from runs.templatetags.numbers import NOTHING

register = template.Library()


@register.filter
def plain(value: Any) -> str:
    """Write a value of JSON: lists with commas, tables as `name value`, yes and no."""
    if isinstance(value, bool):
        return _("yes") if value else _("no")
    if value is None or value in ("", [], {}):
        return NOTHING
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {_inner(part)}" for name, part in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(_inner(part) for part in value)
    return str(value)


def _inner(value: Any) -> str:
    text = plain(value)
    return f"({text})" if isinstance(value, Mapping | list | tuple) and value else text
