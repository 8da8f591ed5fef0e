"""A small curve of a run's loss, drawn by the server: no request, no script."""

import math
from collections.abc import Mapping
from typing import Any

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString

register = template.Library()
_WIDTH, _HEIGHT, _MARGIN = 72, 18, 1.5


@register.simple_tag
def sparkline(spark: Mapping[str, Any]) -> SafeString:
    """Draw what `runs.sparkline` kept; a gap is stepped over, fewer than two values draw nothing."""
    values = list((spark or {}).get("values") or [])
    points = [
        (i, v) for i, v in enumerate(values) if isinstance(v, int | float) and math.isfinite(v)
    ]
    if len(points) < 2:
        return format_html(
            '<svg class="spark" viewBox="0 0 {} {}" aria-hidden="true"></svg>', _WIDTH, _HEIGHT
        )
    low, high = min(v for _, v in points), max(v for _, v in points)
    across = _WIDTH / max(1, len(values) - 1)
    down = (_HEIGHT - 2 * _MARGIN) / ((high - low) or 1)
    line = " ".join(
        f"{i * across:.1f},{_HEIGHT - _MARGIN - (v - low) * down:.1f}" for i, v in points
    )
    return format_html(
        '<svg class="spark" viewBox="0 0 {} {}" preserveAspectRatio="none" aria-hidden="true"><polyline points="{}"/></svg>',
        _WIDTH, _HEIGHT, line,
    )  # fmt: skip
