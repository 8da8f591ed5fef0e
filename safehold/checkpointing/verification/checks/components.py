"""Is the whole state there: model, optimizer, scheduler, random state, sampler?"""

from __future__ import annotations

from collections.abc import Iterator

from safehold.checkpointing.verification.base import check
from safehold.checkpointing.verification.facts import Facts
from safehold.findings import Finding, fail, warn


@check("CKPT-5.components")
def components(facts: Facts) -> Iterator[Finding]:
    """Every part of the state is there."""
    manifest = facts.manifest
    if manifest is None:
        return
    for name in manifest.missing_components:
        yield fail(
            f"The {name} is missing: this is no recovery point.",
            evidence={"component": name},
            advice="Resume from another checkpoint. Its weights alone may still be exported.",
        )
    for name, component in manifest.components.items():
        gone = [path for path in component.files if facts.files[path].size is None]
        if gone or not component.files:
            yield fail(
                f"The {name} is missing ({', '.join(gone) or 'no file'}): no recovery point.",
                evidence={"component": name, "paths": gone},
                advice="Resume from another checkpoint.",
            )
    if manifest.absent:
        yield warn(
            f"The script gave no {', '.join(manifest.absent)} to save, so a resume cannot be exact.",
            evidence={"absent": list(manifest.absent)},
            advice="Pass it to `run.checkpointer(...)`.",
        )
