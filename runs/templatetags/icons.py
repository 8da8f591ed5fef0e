"""Icons from one sprite, and the links of the rail."""

from functools import cache

from django import template
from django.templatetags.static import static
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

register = template.Library()


@register.simple_tag
def icon(name: str) -> SafeString:
    """Return the symbol of `static/img/icons.svg`; decoration, so screen readers skip it."""
    return format_html(
        '<svg class="icon" aria-hidden="true"><use href="{}#{}"/></svg>',
        _sprite(),
        name,
    )


@cache
def _sprite() -> str:
    """Return the address of the sprite: asked for some hundred times a page."""
    return static("img/icons.svg")


@register.simple_tag(takes_context=True)
def rail_link(context: template.Context, place: str, view: str, label: str) -> SafeString:
    """Return one entry of the rail, marked when the page lies under it."""
    href = reverse(view)
    request = context.get("request")
    is_here = request is not None and request.path.startswith(href)
    return format_html(
        '<a href="{}" data-place="{}"{}>{}<span>{}</span></a>',
        href, place, SafeString(' aria-current="page"') if is_here else "", icon(place), label,
    )  # fmt: skip
