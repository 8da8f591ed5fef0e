"""Are all parts of one and the same step?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from safehold.checkpointing.verification.base import check
from safehold.checkpointing.verification.facts import Facts, FileFacts
from safehold.findings import Finding, fail

# Where a document says how far it has come: ours, and the scheduler of the foreign layout.
_NAMES = ("step", "last_update")


@check("CKPT-5.same_step")
def same_step(facts: Facts) -> Iterator[Finding]:
    """Every part says the same step."""
    if facts.manifest is None:
        return
    for path, item in facts.files.items():
        step = stated_step(item)
        if step is not None and step != facts.manifest.step:
            yield fail(
                f"{path} is of step {step}, the manifest of step {facts.manifest.step}: "
                "two checkpoints were mixed.",
                evidence={"path": path, "found": step, "expected": facts.manifest.step},
                advice="Resume from another checkpoint.",
            )


def stated_step(item: FileFacts) -> int | None:
    """Return the step that a file says it is of, None where it says nothing."""
    if item.contents is None:
        return None
    if "step" in item.contents.metadata:
        text = item.contents.metadata["step"]
        return int(text) if text.isascii() and text.isdigit() else -1
    return _in_document(item.contents.document)


def _in_document(document: Any) -> int | None:
    if not isinstance(document, dict):
        return None
    for name in _NAMES:
        if type(document.get(name)) is int:
            return int(document[name])
    return None
