"""Has the optimizer made as many updates as the checkpoint says, on every parameter?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from safehold.checkpointing.forms import is_optimizer
from safehold.checkpointing.names import OPTIMIZER_FILE
from safehold.checkpointing.verification.base import check
from safehold.checkpointing.verification.facts import Facts
from safehold.findings import Finding, fail, warn


@check("CKPT-5.optimizer_steps")
def optimizer_steps(facts: Facts) -> Iterator[Finding]:
    """The optimizer has made the stated updates on every parameter it holds."""
    document = _document(facts)
    if facts.manifest is None or document is None:
        return
    if not is_optimizer(document):
        yield fail(
            f"{OPTIMIZER_FILE} is not what Safehold writes: it cannot be loaded.",
            evidence={"path": OPTIMIZER_FILE},
            advice="Resume from another checkpoint.",
        )
        return
    step = facts.manifest.step
    steps = {name: count for name, count in document["steps"].items() if count is not None}
    held = {name for group in document["groups"] for name in group["parameters"]}
    ahead = sorted(name for name, count in steps.items() if count > step)
    behind = sorted(name for name, count in steps.items() if count < step)
    if ahead:
        yield fail(
            f"The optimizer made {steps[ahead[0]]} updates of {ahead[0]}, the checkpoint is of step {step}.",
            evidence={"parameters": ahead[:20], "step": step},
            advice="Optimizer and manifest are not of one save. Resume from another checkpoint.",
        )
    without = sorted(held - document["steps"].keys()) if step else []
    if behind or without:
        yield warn(
            f"{len(behind)} parameters had fewer updates than {step} steps, {len(without)} had none.",
            evidence={"behind": behind[:20], "without": without[:20], "step": step},
            advice="Fine where a loss scaler skipped steps or a part is frozen; else look closer.",
        )


def _document(facts: Facts) -> Any:
    """Return the document, None where there is none of ours: those of other layouts state no tensors."""
    item = facts.files.get(OPTIMIZER_FILE)
    component = facts.manifest.components.get("optimizer") if facts.manifest else None
    if component is None or not component.tensors or item is None or item.contents is None:
        return None
    return {} if item.contents.document is None else item.contents.document
