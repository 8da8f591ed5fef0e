"""Can each file be read, without running anything from it?"""

from __future__ import annotations

from collections.abc import Iterator

from safehold.checkpointing.verification.base import check
from safehold.checkpointing.verification.facts import Facts
from safehold.findings import Finding, fail, unknown


@check("CKPT-5.readable", needs_manifest=False)
def readable(facts: Facts) -> Iterator[Finding]:
    """Every file can be read, and none would run code."""
    for path, item in facts.files.items():
        if item.error and item.error != "is missing":
            yield fail(
                f"{path} is refused: {item.error}.".replace("..", "."),
                evidence={"path": path, "unsafe": item.unsafe},
                advice=_advice(item.unsafe),
            )
        elif item.size is not None and item.contents is None:
            yield unknown(
                f"{path} is of a form that Safehold cannot read; only its bytes were checked.",
                evidence={"path": path},
            )


def _advice(unsafe: bool) -> str:
    if unsafe:
        return "Do not load it with anything else. Save the state again as safetensors and JSON."
    return "It is damaged. Resume from another checkpoint."
