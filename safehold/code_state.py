"""From which commit the started program comes, and the digest of what was changed since (CONF-8)."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from blake3 import blake3

# A start waits for it: a repository whose difference takes longer is reported by its commit alone.
TIMEOUT_SECONDS = 5.0


def state_of(place: Path) -> dict[str, str]:
    """Return `commit`, and `dirty` where files under version control were changed; empty outside a repository."""
    commit = _git(place, "rev-parse", "HEAD")
    if commit is None:
        return {}
    found = {"commit": commit.decode().strip()}
    changes = _git(place, "diff", "HEAD", "--no-ext-diff", "--no-color")
    return found | ({"dirty": f"blake3:{blake3(changes).hexdigest()}"} if changes else {})


def of_this_program() -> dict[str, str]:
    """Return the state of the code that this process runs."""
    main = getattr(sys.modules.get("__main__"), "__file__", None)
    return state_of(Path(main).resolve().parent if main else Path.cwd())


def _git(place: Path, *words: str) -> bytes | None:
    """Return what git says, or None where it says nothing useful: no git, no repository, too slow."""
    quiet = os.environ | {"GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"}
    try:
        ran = subprocess.run(
            ["git", "-C", str(place), *words], capture_output=True, timeout=TIMEOUT_SECONDS, env=quiet, check=False,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired):
        return None
    return ran.stdout if ran.returncode == 0 else None
