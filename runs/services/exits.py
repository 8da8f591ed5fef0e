"""One exit record of an attempt, put together from those of its nodes. Pure."""

from collections.abc import Mapping
from typing import Any

Record = Mapping[str, Any]
# What happened to one node happened to the attempt; the first of these that any node tells counts.
_WORST_FIRST = ("failed", "could_not_start", "stopped", "finished")


def merged(known: Record, told: Record, *, node: int) -> dict[str, Any]:
    """Return the record of the attempt after one more node told how it ended.

    The ranks of all nodes are in it; the rest is what the node tells that ended worst, and among those the
    one that ended first: the others mostly ended because of it. `nodes` keeps who told what.

    Args:
        known: What the others told; empty before the first.
        told: What this one tells.
        node: Its rank.
    """
    outcomes = _outcomes(known) | {str(node): str(told.get("outcome") or "")}
    if set(outcomes) == {"0"}:
        return dict(told)
    is_first = len(outcomes) == 1
    worst = told if is_first else min(known, told, key=_order)
    ranks = {**_ranks(known), **_ranks(told)}
    return {**worst, "ranks": ranks, "nodes": outcomes}


def _outcomes(record: Record) -> dict[str, str]:
    """Return who told what; a record without it is that of node 0 alone."""
    alone = {"0": str(record.get("outcome") or "")} if record else {}
    return dict(record.get("nodes") or alone)


def _order(record: Record) -> tuple[int, str]:
    outcome = record.get("outcome")
    place = _WORST_FIRST.index(outcome) if outcome in _WORST_FIRST else 0
    return place, str(record.get("ended_at") or "~")


def _ranks(record: Record) -> dict[str, Any]:
    ranks = record.get("ranks")
    return dict(ranks) if isinstance(ranks, Mapping) else {}
