"""Values handed to scripts through data- attributes."""

import json
from typing import Any

from django import template

register = template.Library()


@register.filter
def as_json(value: Any) -> str:
    """Write a value as JSON; the template escapes it for the attribute."""
    return json.dumps(value, default=str)


@register.filter
def get(mapping: Any, key: Any) -> Any:
    """Return `mapping[key]`, or nothing."""
    return mapping.get(key) if mapping else None
