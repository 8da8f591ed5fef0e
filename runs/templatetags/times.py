"""Times: the machine's form in the element, words for people from a small script in the viewer's zone."""

from datetime import UTC, datetime, timedelta
from typing import Any

from django import template
from django.utils import timezone
from django.utils.html import format_html
from django.utils.translation import gettext as _

from runs.templatetags.numbers import NOTHING

register = template.Library()


@register.filter
def ago(value: Any) -> str:
    """How long ago; readable without script too."""
    if not isinstance(value, datetime):
        return NOTHING
    return format_html(
        '<time datetime="{}" data-relative>{}</time>', _iso(value), _words(timezone.now() - value)
    )


@register.filter
def lasting(value: Any) -> str:
    """For how long something has been so; readable without script too."""
    if not isinstance(value, datetime):
        return NOTHING
    return format_html(
        '<time datetime="{}" data-lasting="{}">{}</time>',
        _iso(value), _("for {n}"), _("for {n}").replace("{n}", _length(timezone.now() - value)),
    )  # fmt: skip


@register.filter
def at(value: Any) -> str:
    """The time of day, to the second."""
    if not isinstance(value, datetime):
        return NOTHING
    text = f"{value.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"
    return format_html('<time datetime="{}" data-moment>{}</time>', _iso(value), text)


def _iso(value: datetime) -> str:
    return value.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _words(age: timedelta) -> str:
    seconds = max(0, int(age.total_seconds()))
    for size, text in ((86400, _("%(n)sd ago")), (3600, _("%(n)sh ago")), (60, _("%(n)sm ago"))):
        if seconds >= size:
            return text % {"n": seconds // size}
    return _("%(n)ss ago") % {"n": seconds}


def _length(age: timedelta) -> str:
    seconds = max(0, int(age.total_seconds()))
    for size, text in ((86400, _("%(n)sd")), (3600, _("%(n)sh")), (60, _("%(n)sm"))):
        if seconds >= size:
            return text % {"n": seconds // size}
    return _("%(n)ss") % {"n": seconds}
