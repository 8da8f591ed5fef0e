"""Whether rate and batch of a production run are known to work together."""

from collections.abc import Iterator, Sequence

from safehold.config import RunConfig
from safehold.findings import Finding, fail, passed, unknown
from safehold.preflight.base import Facts, check
from safehold.preflight.facts import Proven

_SAME = 1e-6  # rates are typed by people: 3e-4 and 0.0003 are one


@check("CONF-3.proven_batch_and_lr", group="rules")
def proven_batch_and_lr(facts: Facts) -> Iterator[Finding]:
    """A production run keeps to a learning rate and a batch that a finished run of its family had."""
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
        yield _judged(facts.config, facts.proven, told)


def _judged(config: RunConfig, proven: Sequence[Proven], told: str) -> Finding:
    around = [one for one in proven if one.global_batch == config.train.global_batch]
    evidence = {
        "field": "optimizer.lr",
        "proven": [{"run": p.run, "lr": p.lr, "global_batch": p.global_batch} for p in proven[:20]],
    }
    lowest = min((one.lr for one in around), default=float("inf")) * (1 - _SAME)
    highest = max((one.lr for one in around), default=0.0) * (1 + _SAME)
    if lowest <= config.optimizer.lr <= highest:
        runs = ", ".join(sorted({one.run for one in around})[:3])
        return passed(f"{told} lies within what {runs} proved.", evidence=evidence)
    return fail(
        f"{told} was not proven by a finished run of this model family.",
        evidence=evidence,
        advice="Finish an experiment with this rate and batch first, or take those of a finished run.",
    )
