"""Has each rank its own random state in the checkpoint?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from safehold.checkpointing.forms import is_state
from safehold.checkpointing.random_state import digest_of
from safehold.checkpointing.verification.base import check
from safehold.checkpointing.verification.facts import Facts
from safehold.findings import Finding, fail, unknown


@check("CKPT-5.rng_per_rank")
def rng_per_rank(facts: Facts) -> Iterator[Finding]:
    """Every rank has its own random state, the one that it had when it was saved."""
    manifest = facts.manifest
    if manifest is None or "rng" not in manifest.components:
        return
    size = manifest.world.get("size", 1)
    states = [_document(facts, path) for path in manifest.components["rng"].files]
    if len(states) != size:
        yield fail(
            f"{size} ranks were saved and there are {len(states)} random states.",
            evidence={"num_ranks": size, "num_states": len(states)},
            advice="A resume would give ranks the wrong state. Resume from another checkpoint.",
        )
    recorded = manifest.world.get("rng")
    if recorded is None and size > 1:
        yield unknown("The manifest does not say which random state each rank had.")
    for rank, (state, wanted) in enumerate(zip(states, recorded or [], strict=False)):
        if not is_state(state) or digest_of(state["state"]) != wanted:
            yield fail(
                f"Rank {rank} was saved with another random state than it had.",
                evidence={"rank": rank, "expected": wanted},
                advice="All ranks may hold one rank's state. Resume from another checkpoint.",
            )


def _document(facts: Facts, path: str) -> Any:
    contents = facts.files[path].contents
    return contents.document if contents else None
