"""From values in a training script to records in the journal, at the cost of one write."""

from __future__ import annotations

import logging
import struct
import time
from collections.abc import Mapping
from typing import Any, SupportsFloat, cast

from safehold import wire
from safehold.journal import Journal, pack_record

logger = logging.getLogger(__name__)

MAX_BATCH_IDS = 65_536


class Recorder:
    """Writes records; what cannot be taken is left out, told once, and never raised."""

    def __init__(self, journal: Journal) -> None:
        self.journal = journal
        self._shapes: dict[tuple[Any, ...], tuple[str, struct.Struct]] = {}
        self._told: set[str] = set()

    def points(
        self,
        step: int,
        tokens: int,
        values: Mapping[Any, Any],
        kind: wire.EventKind | None = None,
        data: dict[str, Any] | None = None,
    ) -> int:
        """Write the metrics of one step, perhaps with an event; returns the number of the record.

        Args:
            step: Optimizer steps done.
            tokens: Tokens seen so far, -1 where not known.
            values: Numbers by name, raw: NaN and infinities are kept. A tensor of one element is
                read here, which waits for its device.
            kind: Of the event.
            data: Of the event.
        """
        try:
            names = tuple(values)
            joined, packer = self._shapes.get(names) or self._shape(names)
            packed = packer.pack(*map(_plain, values.values()))
        except (struct.error, TypeError, ValueError, OverflowError, RuntimeError):
            joined, packed = self._one_by_one(values)
        return self._append(step, tokens, joined, packed, kind, data)

    def event(self, kind: wire.EventKind, data: dict[str, Any], step: int, tokens: int) -> int:
        """Write an event; returns the number of the record, 0 where it was not taken."""
        return self._append(step, tokens, "", b"", kind, data)

    def tell(self, text: str, level: str = "warning") -> None:
        """Say something on the page of the run, once for each text."""
        if text not in self._told and len(self._told) < 1000:
            self._told.add(text)
            logger.warning("run.told", extra={"text": text})
            data = {"level": level, "text": text}
            self.event("message", data, wire.NO_STEP, wire.NO_TOKENS)

    def _append(
        self,
        step: int,
        tokens: int,
        names: str,
        values: bytes,
        kind: wire.EventKind | None,
        data: dict[str, Any] | None,
    ) -> int:
        try:
            record = pack_record(
                step=step,
                tokens=tokens,
                at_ms=time.time_ns() // 1_000_000,
                names=names,
                values=values,
                kind=kind,
                data=None if data is None else wire.tidy(data),
            )
            if kind is not None and len(record) - len(values) > wire.MAX_EVENT_BYTES:
                raise ValueError(f"it is larger than {wire.MAX_EVENT_BYTES:,} bytes")
        except (OverflowError, ValueError, TypeError) as error:
            what = f"An event of kind {kind}" if kind else f"A record of step {step!r:.40}"
            self.tell(f"{what} was left out: {error}.")
            return self._append(step, tokens, names, values, None, None) if kind and names else 0
        return self.journal.append(record, event=kind not in (None, "batch_ids"))

    def _shape(self, names: tuple[Any, ...]) -> tuple[str, struct.Struct]:
        for name in names:
            if not isinstance(name, str) or wire.name_problem(name):
                raise ValueError(name)
        shape = "\n".join(names), struct.Struct(f"<{len(names)}d")
        if len(self._shapes) < 10_000:
            self._shapes[names] = shape
        return shape

    def _one_by_one(self, values: Mapping[Any, Any]) -> tuple[str, bytes]:
        """The slow way: some name or value is not as it should be."""
        good: dict[str, float] = {}
        for name, value in values.items():
            problem = wire.name_problem(name) if isinstance(name, str) else "name is not text"
            number = None if problem else as_float(value)
            if number is None:
                why = problem or f"its value is a {type(value).__name__}, not one number"
                self.tell(f"The metric {name!r:.260} was left out: {why}.")
            else:
                good[name] = number
        return "\n".join(good), struct.pack(f"<{len(good)}d", *good.values())


def _plain(value: Any) -> Any:
    """Take a tensor off its graph; reading it as it is would make torch warn."""
    if type(value) is float:
        return value
    return value.detach() if hasattr(value, "detach") else value


def as_float(value: object) -> float | None:
    """Return one number as a float, or `None` where it is none (a text, a vector)."""
    if isinstance(value, (str, bytes)) or value is None:
        return None
    try:
        return float(cast(SupportsFloat, _plain(value)))
    except OverflowError:
        return float("inf") if cast(Any, value) > 0 else float("-inf")
    except (TypeError, ValueError, RuntimeError):
        return None


def ids_of(batch_ids: Any) -> list[Any]:
    """Return the ids of the samples of a batch as a list, at most 65,536 of them."""
    if hasattr(batch_ids, "tolist"):
        batch_ids = batch_ids.tolist()
    found = list(batch_ids) if isinstance(batch_ids, (list, tuple, set)) else [batch_ids]
    found = found[:MAX_BATCH_IDS]
    # Single numbers of numpy and torch, as a data loader collects them.
    return [item.tolist() if hasattr(item, "tolist") else item for item in found]
