"""Times: the machine's form in the element, words for people from a small script in the viewer's zone."""

from datetime import UTC, datetime
from typing import Any

from django import template
from django.utils import timezone
from django.utils.html import format_html
from django.utils.timesince import timesince

from runs.templatetags.numbers import NOTHING

register = template.Library()


@register.filter
def ago(value: Any) -> str:
    """How long ago; readable without script too."""
    if not isinstance(value, datetime):
        return NOTHING
    words = timesince(value, timezone.now(), depth=1)
    return format_html('<time datetime="{}" data-relative>{}</time>', _iso(value), f"{words} ago")


@register.filter
def at(value: Any) -> str:
    """The time of day, to the second."""
    if not isinstance(value, datetime):
        return NOTHING
    utc = value.astimezone(UTC)
    return format_html(
        '<time datetime="{}" data-moment>{:%Y-%m-%d %H:%M:%S} UTC</time>', _iso(value), utc
    )


def _iso(value: datetime) -> str:
    return value.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
