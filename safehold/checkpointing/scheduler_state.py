"""A learning-rate schedule's state; on a fork only how far it has come is taken over."""

from __future__ import annotations

import warnings
from typing import Any

from torch.optim import Optimizer
from torch.optim.lr_scheduler import LambdaLR, LRScheduler

from safehold.checkpointing.errors import RestoreError

# How far a schedule has come, in torch.optim's words and in ours.
_COUNTERS = ("last_epoch", "_step_count", "last_update")


def load_scheduler(
    scheduler: Any, optimizer: Optimizer, state: dict[str, Any], *, keep_settings: bool
) -> None:
    """Give a schedule its state back.

    Args:
        scheduler: Ours, or one of `torch.optim.lr_scheduler`.
        optimizer: Whose learning rates the schedule sets.
        state: What `state_dict()` returned.
        keep_settings: A fork: peak, length and warmup stay as the current config says, and the
            rate in force is computed anew.
    """
    if not keep_settings:
        scheduler.load_state_dict(state)
        return
    counters = {key: state[key] for key in _COUNTERS if key in state}
    scheduler.load_state_dict({**scheduler.state_dict(), **counters})
    for group, rate in zip(optimizer.param_groups, _closed_form(scheduler) or [], strict=False):
        group["lr"] = rate


def _closed_form(scheduler: Any) -> list[float] | None:
    """Return the rates at the schedule's position, None where it sets them itself at each update.

    Raises:
        RestoreError: a schedule of torch that only knows how to go from one rate to the next.
    """
    if not isinstance(scheduler, LRScheduler):
        return None
    if isinstance(scheduler, LambdaLR):
        with warnings.catch_warnings(action="ignore"):  # torch expects the call inside step()
            return [float(rate) for rate in scheduler.get_lr()]
    if not hasattr(scheduler, "_get_closed_form_lr"):
        raise RestoreError(
            f"A fork cannot place {type(scheduler).__name__} at a step: it has no closed form. "
            "Use a LambdaLR, or resume the run itself."
        )
    return list(scheduler._get_closed_form_lr())
