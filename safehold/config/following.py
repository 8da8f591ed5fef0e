"""Changes that follow from another one: a person turned one knob, and these had to turn with it."""

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from safehold.config.set_apart import governor_of, has_effect
from safehold.config.sides import Sides

ROUNDING = 0.01  # rates and counts are rounded when they are computed again by hand


@dataclass(frozen=True)
class Follows:
    """From which change another one follows, and why."""

    leader: str
    why: str


def leaders(sides: Sides, apart: Mapping[str, str]) -> dict[str, Follows]:
    """Return the changes that follow from another one; what is set apart follows nothing."""
    found: dict[str, Follows] = {}
    for rule in _RULES:
        for path, leader, why in rule(sides):
            is_open = path in sides.changed and path not in apart and path not in found
            if is_open and leader in sides.changed and path != leader:
                found[path] = Follows(leader, why)
    return found


Found = Iterator[tuple[str, str, str]]


def _governed(sides: Sides) -> Found:
    """A field that gains or loses its effect with another one."""
    for path in sides.changed:
        governor = governor_of(path)
        if governor and has_effect(path, sides.old) != has_effect(path, sides.new):
            yield path, governor, "It has an effect on one side only."


def _with_the_launcher(sides: Sides) -> Found:
    for path in sides.changed:
        if path.startswith("kubernetes."):
            yield path, "compute.launcher", "The section belongs to the launcher."


def _heads(sides: Sides) -> Found:
    hidden, heads = sides.growth("network.hidden"), sides.growth("network.heads")
    if hidden and heads and _same(hidden, heads):
        yield "network.heads", "network.hidden", "The width of a head is the same."


def _content(sides: Sides) -> Found:
    yield "tokenizer.path", "tokenizer.digest", "It is where the other tokenizer lies."
    yield "data.path", "data.version", "It is where the other data lie."
    for leader in ("data.version", "data.path"):
        yield "data.validation_path", leader, "It belongs to the data."
    for leader in ("tokenizer.digest", "tokenizer.path"):
        yield "network.vocabulary", leader, "It is that of the tokenizer."


def _batch(sides: Sides) -> Found:
    batch, length = sides.growth("train.global_batch"), sides.growth("network.sequence_length")
    if batch and length and _same(batch * length, 1):
        yield "train.global_batch", "network.sequence_length", "An update sees as many tokens."
    yield "train.accumulation", "train.global_batch", "The batch is added up in other portions."
    split, devices = sides.growth("train.accumulation"), sides.growth("compute.devices")
    if split and devices and _same(split * devices, 1):
        yield (
            "train.accumulation",
            "compute.devices",
            "A device still takes as many sequences at once.",
        )


def _length(sides: Sides) -> Found:
    """Step counts that see as many tokens, or keep their share of the run."""
    batch = sides.growth("train.global_batch") or 1
    tokens = batch * (sides.growth("network.sequence_length") or 1)
    leader = (
        "train.global_batch" if "train.global_batch" in sides.changed else "network.sequence_length"
    )
    if _scaled(sides, "train.steps", 1 / tokens):
        yield "train.steps", leader, "It sees as many tokens."
    steps = sides.growth("train.steps") or 1
    for path in ("optimizer.warmup_steps", "optimizer.decay_steps"):
        if _scaled(sides, path, steps):
            yield path, "train.steps", "It is the same share of the run."
        if _scaled(sides, path, 1 / tokens):
            yield path, leader, "It sees as many tokens."
    if "three_part" in sides.both("optimizer.schedule"):
        yield (
            "optimizer.warmup_steps",
            "optimizer.schedule",
            "The three-part schedule has a warmup of its own.",
        )


def _minimum(sides: Sides) -> Found:
    minimum, rate = sides.growth("optimizer.min_lr"), sides.growth("optimizer.lr")
    if minimum and rate and _same(minimum, rate):
        yield "optimizer.min_lr", "optimizer.lr", "It is the same share of the peak."


_RULES: tuple[Callable[[Sides], Found], ...] = (
    _governed, _with_the_launcher, _heads, _content, _batch, _length, _minimum,
)  # fmt: skip


def _scaled(sides: Sides, path: str, factor: float) -> bool:
    old, new = sides.both(path)
    if not old or new is None:
        return False
    return bool(abs(new - old * factor) <= max(1, ROUNDING * abs(new)))


def _same(one: float, other: float) -> bool:
    return math.isclose(one, other, rel_tol=ROUNDING)
