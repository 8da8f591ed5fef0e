"""Stored English sentences in the language of the page: findings, faults, events, reasons."""

from django import template

from controlplane.common.sentences import sentence as translated

register = template.Library()


@register.filter
def sentence(value: object) -> str:
    """Return a sentence in the language of the page; one that is not known stays as it is."""
    return translated(str(value or ""))
