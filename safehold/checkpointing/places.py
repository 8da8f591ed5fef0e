"""Where this attempt saves and what it begins from, as its launcher said."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from safehold.checkpointing.errors import CheckpointError


@dataclass(frozen=True, slots=True)
class Places:
    """Paths of one attempt.

    Attributes:
        root: Holds the checkpoints of all runs.
        attempt: Stands in the path, which keeps a lost pod that still writes apart from its successor.
        resume_from: None at the beginning of a run.
        fork: The checkpoint belongs to another run: config and settings may differ from it.
        weights_from: The checkpoint whose weights alone a new run begins with; then there is nothing to resume from.
    """

    root: Path
    run: str
    attempt: str
    resume_from: Path | None = None
    fork: bool = False
    weights_from: Path | None = None

    @property
    def folder(self) -> Path:
        """Return where this attempt saves."""
        return self.root / f"run-{self.run}" / f"a{self.attempt}"

    def of_step(self, step: int) -> Path:
        """Return the folder of the checkpoint of a step."""
        return self.folder / f"step-{step}"


def from_environment(
    config: Mapping[str, Any], environment: Mapping[str, str] = os.environ
) -> Places:
    """Read the places of this attempt; without a launcher, the config's root and the next free attempt.

    Raises:
        CheckpointError: nobody names a root, or two starts are named.
    """
    named = environment.get("SAFEHOLD_CHECKPOINT_ROOT")
    root = named or (config.get("checkpoint") or {}).get("root")
    if not root:
        raise CheckpointError("Set `checkpoint.root` in the config, or SAFEHOLD_CHECKPOINT_ROOT.")
    run = environment.get("SAFEHOLD_RUN_ID") or "offline"
    resume_from = environment.get("SAFEHOLD_RESUME_FROM")
    weights_from = environment.get("SAFEHOLD_WEIGHTS_FROM")
    if resume_from and weights_from:
        raise CheckpointError(
            f"SAFEHOLD_RESUME_FROM={resume_from} and SAFEHOLD_WEIGHTS_FROM={weights_from} name two starts: set one."
        )
    return Places(
        root=Path(root),
        run=run,
        attempt=environment.get("SAFEHOLD_ATTEMPT") or _next_attempt(Path(root) / f"run-{run}"),
        resume_from=Path(resume_from) if resume_from else None,
        fork=environment.get("SAFEHOLD_FORK") == "1",
        weights_from=Path(weights_from) if weights_from else None,
    )


def _next_attempt(folder: Path) -> str:
    numbers = [int(path.name[1:]) for path in folder.glob("a*") if path.name[1:].isdigit()]
    return str(max(numbers, default=0) + 1)
