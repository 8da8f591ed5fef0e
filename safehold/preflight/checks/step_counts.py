"""Whether warmup, decay, intervals and length agree, in optimizer updates."""

from collections.abc import Iterator

from safehold.config.errors import STEPS
from safehold.findings import Finding, fail, passed, unknown
from safehold.preflight.base import Facts, check


@check("CONF-2.step_counts", group="config")
def step_counts(facts: Facts) -> Iterator[Finding]:
    """Warmup, decay, checkpoint and evaluation intervals fit into the run; nothing is adjusted."""
    if facts.config is not None:
        steps = facts.config.train.steps
        yield passed(f"Warmup and intervals fit into {steps} steps.", evidence={"steps": steps})
        return
    faults = [error for error in facts.config_errors if error.code == STEPS]
    for error in faults:
        evidence = {"field": error.path} | ({"line": error.line} if error.line else {})
        yield fail(f"{error.path}: {error.message}", evidence=evidence, advice=error.hint)
    if not faults:
        yield unknown("The step counts were not compared, because the config could not be read.")
