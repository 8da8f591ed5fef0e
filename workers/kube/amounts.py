"""Amounts as Kubernetes writes them: the server gives `0.5` back as `500m` and `1024Mi` as `1Gi`."""

import re
from decimal import Decimal

_AMOUNT = re.compile(r"(?P<number>[0-9]+(\.[0-9]+)?)(?P<unit>m|k|[MGTPE]|[KMGTPE]i)?")
_DECIMAL, _BINARY = "kMGTPE", "KMGTPE"


def amount(text: object) -> Decimal | None:
    """Return the number behind an amount, or None where it is none."""
    found = _AMOUNT.fullmatch(str(text)) if isinstance(text, str | int | float) else None
    if found is None:
        return None
    number, unit = Decimal(found["number"]), found["unit"] or ""
    if unit == "m":
        return number / 1000
    if unit.endswith("i"):
        return number * Decimal(1024) ** (_BINARY.index(unit[0]) + 1)
    return number * Decimal(1000) ** (_DECIMAL.index(unit) + 1) if unit else number


def same_amount(one: object, other: object) -> bool:
    """Whether two texts are the same amount, written differently; a text without digits never is."""
    if isinstance(one, bool) or isinstance(other, bool):
        return False
    first = amount(one)
    return first is not None and first == amount(other)
