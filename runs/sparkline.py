"""The loss of a whole run in at most 64 values, for lists: kept up to date at a constant cost a batch.

Each value stands for `every` steps; when the values run out, `every` doubles and every second one goes.
Pure, and the same however often a value is told, so two writers or a retry do no harm.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

MAX_VALUES = 64
# What a step without a value repeats as: JSON null, a gap in the line.
GAP = None


def added(spark: Mapping[str, Any] | None, step: int, value: float) -> dict[str, Any]:
    """Return the sparkline with the value of a step; a step that goes back cuts what it replaces.

    Args:
        spark: {"every": steps a value, "values": [...]}, or nothing yet.
        step: At least 0.
        value: Not finite becomes a gap.
    """
    every = int((spark or {}).get("every") or 1)
    values = list((spark or {}).get("values") or [])
    at = step // every
    while at >= MAX_VALUES:
        # The second of each pair stands: it is the newer one.
        values = [_second(values, i) for i in range(0, len(values), 2)]
        every *= 2
        at = step // every
    shown = float(f"{value:.4g}") if math.isfinite(value) else GAP
    values = values[:at] + [GAP] * (at - len(values)) + [shown]
    return {"every": every, "values": values}


def _second(values: list[float | None], at: int) -> float | None:
    later = values[at + 1] if at + 1 < len(values) else GAP
    return values[at] if later is None else later
