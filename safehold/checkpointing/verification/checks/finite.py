"""Are all weights and moments numbers?"""

from __future__ import annotations

from collections.abc import Iterator

from safehold.checkpointing.verification.base import check
from safehold.checkpointing.verification.facts import Facts
from safehold.findings import Finding, fail


@check("CKPT-5.finite", needs_manifest=False)
def finite(facts: Facts) -> Iterator[Finding]:
    """No weight and no moment is NaN or infinite."""
    for path, item in facts.files.items():
        for bad in item.not_finite:
            yield fail(
                f"{path}: {bad.tensor} holds {bad.num_nan:,} NaN and {bad.num_infinite:,} infinite "
                "values.",
                evidence={
                    "path": path,
                    "tensor": bad.tensor,
                    "num_nan": bad.num_nan,
                    "num_infinite": bad.num_infinite,
                },
                advice="Resume from a checkpoint before the values blew up; keep this for study.",
            )
