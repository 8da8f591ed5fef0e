"""Numbers as people read them: three significant digits and a unit, the exact value on hover."""

import math
from typing import Any

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

register = template.Library()
NOTHING = "–"
_LARGE = ("", " k", " M", " G", " T", " P", " E", " Z", " Y")
_BYTES = ("B", "KiB", "MiB", "GiB", "TiB", "PiB")
# Below this a plain decimal needs too many zeros to be read at a glance.
_SMALLEST_PLAIN = 1e-3
# From here on it has too many: the FLOP of even a small run.
_LARGEST_PLAIN = 1e9
_SECONDS_A_DAY = 86_400


def significant(value: float, digits: int = 3) -> str:
    """Return `value` with so many significant digits: 3.14159 is 3.14, 0.00012 is 1.20e-4."""
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "∞" if value > 0 else "-∞"
    if value == 0:
        return "0"
    if abs(value) < _SMALLEST_PLAIN or abs(value) >= _LARGEST_PLAIN:
        mantissa, power = f"{value:.{digits - 1}e}".split("e")
        return f"{mantissa}e{int(power)}"
    exponent = math.floor(math.log10(abs(float(f"{value:.{digits - 1}e}"))))
    return f"{value:,.{max(0, digits - 1 - exponent)}f}"


def scaled(value: float) -> str:
    """Return a count with a decimal prefix: 1234567 is 1.23 M; whole numbers below 1,000 as they are."""
    if not math.isfinite(value):
        return significant(value)
    if abs(value) < 1000:
        return f"{value:.0f}" if float(value).is_integer() else significant(value)
    power = min(int(math.log10(abs(value)) // 3), len(_LARGE) - 1)
    if float(f"{abs(value) / 1000**power:.2e}") >= 1000 and power < len(_LARGE) - 1:
        power += 1
    return f"{significant(value / 1000**power)}{_LARGE[power]}"


def sized(value: float) -> str:
    """Return bytes with a binary prefix: 1536 is 1.50 KiB."""
    power = 0 if abs(value) < 1024 else min(int(math.log2(abs(value)) // 10), len(_BYTES) - 1)
    number = f"{value:.0f}" if power == 0 else significant(value / 1024**power)
    return f"{number} {_BYTES[power]}"


def lasting(seconds: float) -> str:
    """Return a duration to about two digits: 3725 is 1 h 2 min, 2294 is 38 min, 4.2 is 4.2 s."""
    if seconds < 10:
        return f"{seconds:.1f} s"
    whole = int(seconds)
    for large, small, size, part in (
        ("d", "h", 86400, 3600), ("h", "min", 3600, 60), ("min", "s", 60, 1),
    ):  # fmt: skip
        if whole >= size:
            rest = 0 if whole >= 10 * size else whole % size // part
            return f"{whole // size} {large} {rest} {small}" if rest else f"{whole // size} {large}"
    return f"{whole} s"


def _shown(value: Any, text: str, exact: str) -> SafeString:
    if text == exact:
        return format_html('<data value="{}">{}</data>', value, text)
    return format_html('<data value="{}" title="{}">{}</data>', value, exact, text)


def _number(value: Any) -> float | None:
    if value is None or value == "" or isinstance(value, bool):
        return None
    try:
        return float(value)
    except (TypeError, ValueError):
        return None


@register.filter
def three(value: Any) -> str:
    """Three significant digits."""
    number = _number(value)
    return NOTHING if number is None else _shown(value, significant(number), f"{value}")


@register.filter
def count(value: Any) -> str:
    """A count with a prefix; the exact one, with separators, on hover."""
    number = _number(value)
    if number is None:
        return NOTHING
    exact = f"{int(value):,}" if number.is_integer() else f"{value}"
    return _shown(value, scaled(number), exact)


@register.filter
def exact(value: Any) -> str:
    """A whole number with separators."""
    return NOTHING if value is None or value == "" else f"{int(value):,}"


@register.filter
def in_bytes(value: Any) -> str:
    """Bytes with a binary prefix."""
    number = _number(value)
    return NOTHING if number is None else _shown(value, sized(number), f"{int(number):,} B")


@register.filter
def rate(value: Any) -> str:
    """Something per second: 12,345 is 12.3 k/s."""
    number = _number(value)
    if number is None:
        return NOTHING
    return _shown(value, f"{scaled(float(f'{number:.3g}'))}/s", f"{number:,.2f}/s")


@register.filter
def duration(value: Any) -> str:
    """Seconds as a duration; the exact seconds on hover."""
    seconds = value.total_seconds() if hasattr(value, "total_seconds") else _number(value)
    if seconds is None or not math.isfinite(seconds):
        return NOTHING
    return _shown(seconds, lasting(max(0.0, seconds)), f"{seconds:,.1f} s")


@register.filter
def days(value: Any) -> str:
    """Days; less than one in hours and minutes."""
    number = _number(value)
    return three(value) if number is None or number >= 1 else duration(number * _SECONDS_A_DAY)


@register.filter
def days_told(value: Any) -> str:
    """Days with their word, for the middle of a sentence."""
    number = _number(value)
    if number is None or number < 1:
        return days(value)
    return format_html("{} {}", three(value), _("days"))


@register.filter
def percent(value: Any) -> str:
    """A share between 0 and 1."""
    number = _number(value)
    return (
        NOTHING if number is None else _shown(value, f"{significant(number * 100)} %", f"{value}")
    )


@register.filter
def in_gb(value: Any) -> str:
    """Bytes in units of 1e9, as the makers of devices count."""
    number = _number(value)
    return (
        NOTHING
        if number is None
        else _shown(value, f"{significant(number / 1e9)} GB", f"{int(number):,} B")
    )
