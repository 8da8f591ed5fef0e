"""Whether rate and batch of a production run are known to work together."""

from collections.abc import Iterator, Sequence
from math import log
from typing import Any

from safehold.config import RunConfig
from safehold.findings import Finding, fail, passed, unknown
from safehold.preflight.base import Facts, check
from safehold.preflight.facts import Proven, Trial

_SAME = 1e-6  # rates are typed by people: 3e-4 and 0.0003 are one


@check("CONF-3.proven_batch_and_lr", group="rules")
def proven_batch_and_lr(facts: Facts) -> Iterator[Finding]:
    """A production run keeps to a learning rate and a batch that a finished run of its family and stage had."""
    if facts.config is None:
        yield unknown("The config cannot be read.")
        return
    rate, batch = facts.config.optimizer.lr, facts.config.train.global_batch
    told = f"A peak rate of {rate:g} with a global batch of {batch:,}"
    if facts.config.kind != "production":
        yield passed(f"{told}: an experiment may try what no run has proven.")
    elif facts.proven is None:
        yield unknown(f"{told}: finished runs are not known here.", advice="Ask the service.")
    else:
        yield _judged(facts.config, facts.proven, facts.trial, told)


def _judged(config: RunConfig, proven: Sequence[Proven], trial: Trial | None, told: str) -> Finding:
    around = [one for one in proven if one.global_batch == config.train.global_batch]
    evidence: dict[str, Any] = {
        "field": "optimizer.lr",
        "proven": [
            {"run": p.run, "run_id": p.run_id, "lr": p.lr, "global_batch": p.global_batch}
            for p in proven[:20]
        ],
    }
    lowest = min((one.lr for one in around), default=float("inf")) * (1 - _SAME)
    highest = max((one.lr for one in around), default=0.0) * (1 + _SAME)
    if lowest <= config.optimizer.lr <= highest:
        runs = ", ".join(sorted({one.run for one in around})[:3])
        return passed(f"{told} lies within what {runs} proved.", evidence=evidence)
    nearest = min(proven, key=lambda one: _distance(one, config), default=None)
    return fail(
        f"{told} was not proven by a finished run of this model family and stage.",
        evidence=evidence | _links(trial, nearest),
        advice=f"{_what_to_finish(trial)} {_what_is_near(nearest)}",
    )


def _distance(one: Proven, config: RunConfig) -> float:
    """Return how far a combination is: by the factors between the rates and between the batches."""
    rate, batch = config.optimizer.lr, config.train.global_batch
    return abs(log(one.lr / rate)) + abs(log(one.global_batch / batch))


def _what_to_finish(trial: Trial | None) -> str:
    if trial is None:
        return "Store this config as an experiment, with the same rate, batch and steps, and let its run do them all."
    if trial.steps is None:
        return f"Launch experiment {trial.config_id} ({trial.config}) and let it do all {trial.total_steps:,} steps."
    return (
        f"Let run {trial.run_id} of experiment {trial.config_id} ({trial.config}) do all its steps: "
        f"it is at {trial.steps:,} of {trial.total_steps:,}."
    )


def _what_is_near(nearest: Proven | None) -> str:
    if nearest is None:
        return "No run of this family and stage has done all its steps yet; pilots do not count."
    return (
        f"Or take the nearest proven combination: rate {nearest.lr:g} with batch {nearest.global_batch:,}, "
        f"of run {nearest.run_id} ({nearest.run})."
    )


def _links(trial: Trial | None, nearest: Proven | None) -> dict[str, Any]:
    """Return the records behind the advice by their numbers, as pages link them."""
    runs = [one.run_id for one in (trial, nearest) if one is not None and one.run_id]
    configs = [trial.config_id] if trial is not None else []
    return {name: ids for name, ids in (("run_ids", runs), ("config_ids", configs)) if ids}
