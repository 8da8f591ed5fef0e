"""The quantities that rules hold against their spans: each with its field, its unit, and how it is read."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from safehold.planning.network import starting_loss
from safehold.rulebook.situation import Situation

Reader = Callable[[Situation], Any]


@dataclass(frozen=True)
class Quantity:
    """One quantity.

    Attributes:
        name: As rules name it.
        field: Field of the config beside which a finding stands.
        title: As a sentence begins.
        unit: Of its values, or empty.
        read: Returns its value; None where the config has none.
        details: Returns what else belongs to the evidence.
    """

    name: str
    field: str
    title: str
    unit: str
    read: Reader
    details: Callable[[Situation], dict[str, Any]] | None = None


def _share_of_run(path: str) -> Reader:
    def read(situation: Situation) -> float:
        steps: float = getattr(situation.config.optimizer, path)
        return steps / situation.config.train.steps

    return read


def _held_share(situation: Situation) -> float:
    config = situation.config
    held = config.train.steps - config.optimizer.warmup_steps - config.optimizer.decay_steps
    return held / config.train.steps


def _minimum_over_peak(situation: Situation) -> float | None:
    optimizer = situation.config.optimizer
    return None if optimizer.schedule == "constant" else optimizer.min_lr / optimizer.lr


def _ratio(read: Reader) -> Reader:
    def ratio(situation: Situation) -> float | None:
        if situation.parent is None:
            return None
        before = read(Situation(config=situation.parent))
        return read(situation) / before if before else None

    return ratio


def _rate_over_root_of_batch(situation: Situation) -> float | None:
    """Return how much faster the rate grew than the root of the batch; None where the batch did not grow."""
    batch, rate = BATCH_GROWTH.read(situation), RATE_GROWTH.read(situation)
    return rate / math.sqrt(batch) if batch is not None and batch > 1 and rate > 1 else None


def _warmup_after_batch(situation: Situation) -> float | None:
    """Return the growth of the warmup where batch and rate grew; 1: as many updates as before."""
    batch, rate = BATCH_GROWTH.read(situation), RATE_GROWTH.read(situation)
    return WARMUP_GROWTH.read(situation) if batch is not None and batch > 1 and rate > 1 else None


def _both_grew(situation: Situation) -> str | None:
    batch, rate = BATCH_GROWTH.read(situation), RATE_GROWTH.read(situation)
    if batch is None or batch <= 1:
        return None
    return "batch and rate" if rate > 1 else "batch alone"


def _updates_recomputed(situation: Situation) -> str | None:
    """Say whether step counts followed a batch that was changed by accumulation."""
    now, before = situation.config, situation.parent
    if before is None or now.train.accumulation == before.train.accumulation:
        return None
    if now.train.global_batch == before.train.global_batch:
        return None
    return "as before" if now.train.steps == before.train.steps else "recomputed"


def _recomputed_counts(situation: Situation) -> dict[str, Any]:
    """Return the step counts that see as many tokens as before."""
    now, growth = situation.config, BATCH_GROWTH.read(situation) or 1
    counts = {
        "train.steps": now.train.steps,
        "optimizer.warmup_steps": now.optimizer.warmup_steps,
        "optimizer.decay_steps": now.optimizer.decay_steps,
    }
    return {"recomputed": {name: round(count / growth) for name, count in counts.items() if count}}


def _growths(situation: Situation) -> dict[str, Any]:
    growths = {"batch": BATCH_GROWTH, "rate": RATE_GROWTH, "warmup": WARMUP_GROWTH}
    return {"growth": {name: one.read(situation) for name, one in growths.items()}}


def _three_sigma(situation: Situation) -> float | None:
    seen = situation.observed
    if seen is None or seen.norm_mean is None or seen.norm_deviation is None:
        return None
    return seen.norm_mean + 3 * seen.norm_deviation or None


def _clip_over_three_sigma(situation: Situation) -> float | None:
    level = _three_sigma(situation)
    return situation.config.optimizer.clip / level if level else None


def _observed_norm(situation: Situation) -> dict[str, Any]:
    seen = situation.observed
    return {"run": seen.run, "mean": seen.norm_mean, "deviation": seen.norm_deviation, "clip": _three_sigma(situation)} if seen else {}  # fmt: skip


def _first_loss(situation: Situation) -> float | None:
    """Return the first loss over ln(vocabulary)."""
    if situation.first_loss is None:
        return None
    return situation.first_loss / starting_loss(situation.config.network.vocabulary)


def _losses(situation: Situation) -> dict[str, Any]:
    baseline = starting_loss(situation.config.network.vocabulary)
    return {"first_loss": situation.first_loss, "baseline": baseline}


def _saw_tooth(situation: Situation) -> str | None:
    seen = situation.observed
    if seen is None:
        return None
    return "saw-tooth" if seen.is_saw_tooth else "smooth"


def _accumulated(read: Callable[[Situation], str]) -> Reader:
    """Return a reader of what matters only where micro-batches are added up."""
    return lambda situation: read(situation) if situation.config.train.accumulation > 1 else None


BATCH_GROWTH = Quantity(
    "growth of the batch", "train.global_batch", "The global batch over that of the config before", "×",
    _ratio(lambda one: one.config.train.global_batch),
)  # fmt: skip
RATE_GROWTH = Quantity(
    "growth of the rate", "optimizer.lr", "The peak rate over that of the config before", "×",
    _ratio(lambda one: one.config.optimizer.lr),
)  # fmt: skip
WARMUP_GROWTH = Quantity(
    "growth of the warmup", "optimizer.warmup_steps", "The warmup over that of the config before", "×",
    _ratio(lambda one: one.config.optimizer.warmup_steps),
)  # fmt: skip

ALL: tuple[Quantity, ...] = (
    BATCH_GROWTH,
    RATE_GROWTH,
    WARMUP_GROWTH,
    Quantity("lr", "optimizer.lr", "The peak learning rate", "", lambda s: s.config.optimizer.lr),
    Quantity("warmup share", "optimizer.warmup_steps", "The warmup", "of the steps", _share_of_run("warmup_steps")),
    Quantity("warmup", "optimizer.warmup_steps", "The warmup", "steps", lambda s: s.config.optimizer.warmup_steps),
    Quantity("minimum over peak", "optimizer.min_lr", "The minimum rate", "of the peak", _minimum_over_peak),
    Quantity("beta1", "optimizer.betas", "β1", "", lambda s: s.config.optimizer.betas[0]),
    Quantity("beta2", "optimizer.betas", "β2", "", lambda s: s.config.optimizer.betas[1]),
    Quantity("saw-tooth", "optimizer.betas", "The loss late in the run before", "", _saw_tooth),
    Quantity("weight decay", "optimizer.weight_decay", "The weight decay", "", lambda s: s.config.optimizer.weight_decay),
    Quantity("clip", "optimizer.clip", "The gradient clip", "", lambda s: s.config.optimizer.clip),
    Quantity("clip over 3σ", "optimizer.clip", "The clip over mean + 3σ of the observed norm", "×", _clip_over_three_sigma, _observed_norm),
    Quantity("precision", "train.precision", "The precision", "", lambda s: s.config.train.precision),
    Quantity("loss scaling", "train.loss_scaling", "The loss scaling", "", lambda s: s.config.train.loss_scaling),
    Quantity("state precision", "optimizer.state_precision", "The precision of the optimizer states", "", lambda s: s.config.optimizer.state_precision),
    Quantity("schedule", "optimizer.schedule", "The schedule", "", lambda s: s.config.optimizer.schedule),
    Quantity("decay share", "optimizer.decay_steps", "The decay", "of the steps", _share_of_run("decay_steps")),
    Quantity("held share", "optimizer.decay_steps", "The part that holds the peak", "of the steps", _held_share),
    Quantity("rate over root of batch", "optimizer.lr", "The growth of the rate over the root of the batch's", "×", _rate_over_root_of_batch, _growths),
    Quantity("warmup after batch", "optimizer.warmup_steps", "The growth of the warmup, in updates", "×", _warmup_after_batch, _growths),
    Quantity("what grew", "optimizer.lr", "What grew", "", _both_grew, _growths),
    Quantity("step counts", "train.steps", "The number of updates after the change of accumulation", "", _updates_recomputed, _recomputed_counts),
    Quantity("divided loss", "train.divide_loss", "The loss over the micro-batches", "", _accumulated(lambda s: "averaged" if s.config.train.divide_loss else "summed")),
    Quantity("clipping", "train.clip_at", "The place of clipping", "", _accumulated(lambda s: s.config.train.clip_at)),
    Quantity("method", "train.method", "The method", "", lambda s: s.config.train.method),
    Quantity("steps", "train.steps", "The length", "steps", lambda s: s.config.train.steps),
    Quantity("first loss", "network.vocabulary", "The first loss", "of ln(vocabulary)", _first_loss, _losses),
    Quantity("starting loss", "network.vocabulary", "The starting loss", "nats", lambda s: starting_loss(s.config.network.vocabulary)),
)  # fmt: skip
BY_NAME = {one.name: one for one in ALL}
