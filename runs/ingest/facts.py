"""What a batch tells of its run, besides its points. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np

from runs import sparkline
from safehold.wire import Batch, Column

# The names under which trainers log what a list shows; the first one that a batch has counts.
LOSS_NAMES = ("train/loss", "loss", "train_loss")
SPEED_NAMES = ("throughput/tokens_per_second", "tokens_per_second", "train/tokens_per_second")
# A clock further off than this is flagged: beyond what a network delay or a queue can be.
SKEW_FROM_SECONDS = 60.0
# A flagged clock is written again only when it moved by more than this.
SKEW_STEP_SECONDS = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """The newest facts of a batch; None = it tells nothing of this.

    Attributes:
        skew_seconds: How far the sender's clock is ahead of ours.
    """

    step: int | None = None
    tokens: int | None = None
    loss: float | None = None
    speed: float | None = None
    phase: str | None = None
    skew_seconds: float | None = None
    sparkline: dict[str, Any] | None = None


def told_by(batch: Batch, now: datetime, spark: dict[str, Any]) -> Told:
    """Return what a batch tells.

    Args:
        batch: As received.
        now: The server's clock.
        spark: The sparkline of the run so far.
    """
    beat, loss = batch.heartbeat, _column(batch, LOSS_NAMES)
    speed = _column(batch, SPEED_NAMES)
    return Told(
        step=beat.step if beat is not None and beat.step >= 0 else _newest(batch.steps),
        tokens=beat.tokens if beat is not None and beat.tokens >= 0 else _newest(batch.tokens),
        loss=float(loss.values[-1]) if loss else None,
        speed=_finite(float(speed.values[-1])) if speed else None,
        phase=beat.phase if beat is not None else None,
        skew_seconds=_skew(batch, now),
        sparkline=_sparkline(batch, loss, spark),
    )


def is_skewed(seconds: float | None) -> bool:
    """Say whether a clock is far enough off to be flagged."""
    return seconds is not None and abs(seconds) >= SKEW_FROM_SECONDS


def skew_changed(before: float | None, now: float | None) -> bool:
    """Say whether the flag, or the size of a flagged skew, has to be written."""
    if now is None:
        return False
    if is_skewed(now) != is_skewed(before):
        return True
    return is_skewed(now) and abs(now - (before or 0.0)) > SKEW_STEP_SECONDS


def _column(batch: Batch, names: tuple[str, ...]) -> Column | None:
    for name in names:
        column = batch.column(name)
        if column is not None and column.num_points:
            return column
    return None


def _newest(values: np.ndarray[Any, np.dtype[np.int64]]) -> int | None:
    known = values[values >= 0]
    return int(known[-1]) if known.size else None


def _skew(batch: Batch, now: datetime) -> float | None:
    """Judge by the heartbeat, which is always fresh; a sender without one is judged by its newest point."""
    if batch.heartbeat is not None:
        return batch.heartbeat.at / 1000 - now.timestamp()
    if batch.form != "json" or not batch.n or int(batch.times.max()) <= 0:
        return None
    return int(batch.times.max()) / 1000 - now.timestamp()


def _sparkline(batch: Batch, loss: Column | None, spark: dict[str, Any]) -> dict[str, Any] | None:
    if loss is None:
        return None
    step = int(batch.steps[-1 if loss.index is None else loss.index[-1]])
    drawn = sparkline.added(spark, step, float(loss.values[-1]))
    return drawn if drawn != spark else None


def _finite(value: float) -> float | None:
    return value if np.isfinite(value) else None
