"""All ranks do the same thing at the same step boundary, or nobody would leave a collective.

Rank 0 hears commands, any rank may get a signal. Each boundary starts a small reduction over a gloo
group of its own and reads the one that the previous boundary started: a whole step lies between,
so the answer is there already and the step does not wait. A wish takes effect one step later.
"""

from __future__ import annotations

import logging
from typing import Any, Protocol

logger = logging.getLogger(__name__)

# The larger wins where ranks wish for different things.
NOTHING, SAVE, RESUME, PAUSE, STOP = range(5)
WISHES: dict[str, int] = {"save": SAVE, "resume": RESUME, "pause": PAUSE, "save_and_stop": STOP}


class PeersGone(RuntimeError):
    """Another rank has died, so nothing can be agreed or saved together any more."""


class Agreement(Protocol):
    """How the ranks of a run agree."""

    def next(self, wish: int) -> int:
        """Put in a wish at a step boundary; return what was agreed for this one."""
        ...

    def now(self, wish: int) -> int:
        """Agree at once; every rank has to call it."""
        ...

    def end(self) -> None:
        """Leave nothing pending at the end of training."""
        ...


class Alone:
    """A single process agrees with itself."""

    def next(self, wish: int) -> int:
        """Return the wish."""
        return wish

    def now(self, wish: int) -> int:
        """Return the wish."""
        return wish

    def end(self) -> None:
        """Nothing is pending."""


class Together:
    """The ranks of an initialised `torch.distributed`, over a gloo group of their own."""

    def __init__(self) -> None:
        import torch
        import torch.distributed as dist

        self._dist: Any = dist
        self._torch: Any = torch
        self._group: Any = dist.new_group(backend="gloo")
        self._pending: tuple[Any, Any] | None = None

    def next(self, wish: int) -> int:
        """Read the previous reduction, start the next.

        Raises:
            PeersGone: another rank has died.
        """
        agreed = self._finish()
        if agreed == NOTHING:
            self._pending = self._start(wish)
        return agreed

    def now(self, wish: int) -> int:
        """Reduce and wait; blocks until every rank has called.

        Raises:
            PeersGone: another rank has died.
        """
        self._finish()
        self._pending = self._start(wish)
        return self._finish()

    def end(self) -> None:
        """Take in the reduction that the last boundary started."""
        try:
            self._finish()
        except PeersGone as error:
            logger.warning("agreement.peers_gone", extra={"reason": str(error)})

    def _start(self, wish: int) -> tuple[Any, Any]:
        value = self._torch.tensor([wish], dtype=self._torch.int64)
        try:
            work = self._dist.all_reduce(
                value, op=self._dist.ReduceOp.MAX, group=self._group, async_op=True
            )
        except RuntimeError as error:
            raise PeersGone(f"The ranks cannot agree: {error}") from error
        return work, value

    def _finish(self) -> int:
        if self._pending is None:
            return NOTHING
        work, value = self._pending
        self._pending = None
        try:
            work.wait()
        except RuntimeError as error:
            raise PeersGone(f"The ranks cannot agree: {error}") from error
        return int(value.item())


def of_this_process() -> Agreement:
    """Return how this process agrees; every rank has to call it at the same place."""
    import sys

    dist = sys.modules.get("torch.distributed")
    if dist is None or not dist.is_available() or not dist.is_initialized():
        return Alone()
    return Alone() if dist.get_world_size() == 1 else Together()
