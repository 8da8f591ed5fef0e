"""What the launcher tells a process through its environment, read once."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from safehold.journal import LIMIT_BYTES

# Beside the folders of local attempts: where the service of this machine is reached now. Training outlives
# it, and the next one may have another port.
ADDRESS_FILE = "ingest_url"


@dataclass(frozen=True, slots=True)
class Environment:
    """The surroundings of one rank of one attempt.

    Attributes:
        url: Base of the control plane; empty = work offline.
        token: Of the attempt; never shown.
        token_file: Where it is read anew when the server no longer takes it.
        url_file: Names the base of the control plane anew after it moved to another address.
        folder: Of the attempt: journal, logs, ranks, outbox.
        config: The canonical run config; empty where none was given.
        checkpoint_root: Where the checkpoints of the run lie.
        resume_from: Checkpoint to begin from, if any.
        fork: That checkpoint belongs to another run.
        weights_from: Checkpoint whose weights alone a new run begins with, if any.
        grace_seconds: Time between being asked to stop and being killed.
    """

    folder: Path
    url: str = ""
    token: str = field(default="", repr=False)
    token_file: Path | None = None
    url_file: Path | None = None
    run_id: str = ""
    attempt: int = 1
    config: dict[str, Any] = field(default_factory=dict)
    checkpoint_root: Path | None = None
    resume_from: Path | None = None
    fork: bool = False
    weights_from: Path | None = None
    grace_seconds: float = 60.0
    rank: int = 0
    world_size: int = 1
    local_rank: int = 0
    journal_bytes: int = LIMIT_BYTES
    flush_seconds: float = 0.1

    @property
    def online(self) -> bool:
        """Say whether there is a server to report to."""
        return bool(self.url and self.token)

    def setting(self, section: str, name: str, default: Any = None) -> Any:
        """Return one value of the run config."""
        found = self.config.get(section)
        return found.get(name, default) if isinstance(found, dict) else default


def read(environ: Mapping[str, str] | None = None) -> Environment:
    """Read the `SAFEHOLD_*` variables and those of torchrun.

    Raises:
        ValueError: a variable has a value that makes no sense, or the config is another than was launched; it says
            which and why.
    """
    env = os.environ if environ is None else environ
    token_file = Path(env["SAFEHOLD_TOKEN_FILE"]) if env.get("SAFEHOLD_TOKEN_FILE") else None
    return Environment(
        folder=_folder(env),
        url=env.get("SAFEHOLD_URL", "").rstrip("/"),
        token=env.get("SAFEHOLD_TOKEN", "") or read_line(token_file),
        token_file=token_file,
        url_file=_path(env, "SAFEHOLD_URL_FILE"),
        run_id=env.get("SAFEHOLD_RUN_ID", ""),
        attempt=_int(env, "SAFEHOLD_ATTEMPT", 1),
        config=_config(env),
        checkpoint_root=_path(env, "SAFEHOLD_CHECKPOINT_ROOT"),
        resume_from=_path(env, "SAFEHOLD_RESUME_FROM"),
        fork=env.get("SAFEHOLD_FORK", "") == "1",
        weights_from=_path(env, "SAFEHOLD_WEIGHTS_FROM"),
        grace_seconds=_float(env, "SAFEHOLD_GRACE_SECONDS", 60.0),
        rank=_int(env, "RANK", 0),
        world_size=_int(env, "WORLD_SIZE", 1),
        local_rank=_int(env, "LOCAL_RANK", 0),
        journal_bytes=_int(env, "SAFEHOLD_JOURNAL_BYTES", LIMIT_BYTES),
        flush_seconds=_float(env, "SAFEHOLD_FLUSH_SECONDS", 0.1),
    )


def read_line(path: Path | None) -> str:
    """Return what a file holds, a token or an address, or nothing where it cannot be read."""
    try:
        return path.read_text().strip() if path else ""
    except (OSError, ValueError):
        return ""


def _folder(env: Mapping[str, str]) -> Path:
    if env.get("SAFEHOLD_DIR"):
        return Path(env["SAFEHOLD_DIR"])
    # torchrun gives every rank of one start the same id; alone the process id does.
    started = env.get("TORCHELASTIC_RUN_ID") or f"{time.time_ns() // 10**9}-{os.getpid()}"
    return Path.cwd() / ".safehold" / f"run-{started}"


def _config(env: Mapping[str, str]) -> dict[str, Any]:
    """Read the run config, and refuse one that is not the one that was launched."""
    path, expected = env.get("SAFEHOLD_CONFIG", ""), env.get("SAFEHOLD_CONFIG_HASH", "")
    if not path:
        return {}
    data = _document(path)
    if expected:
        from safehold.config import config_hash

        found = config_hash(data)
        if found != expected:
            raise ValueError(
                f"SAFEHOLD_CONFIG={path}: the config is {found}, the run was launched with {expected}. "
                "Somebody changed the file or what it was made from: launch the run again."
            )
    return data


def _document(path: str) -> dict[str, Any]:
    try:
        data = json.loads(Path(path).read_bytes())
    except (OSError, ValueError) as error:
        raise ValueError(f"SAFEHOLD_CONFIG={path}: cannot be read as JSON ({error}).") from error
    if not isinstance(data, dict):
        raise ValueError(f"SAFEHOLD_CONFIG={path}: must hold a map, not {type(data).__name__}.")
    return data


def _path(env: Mapping[str, str], name: str) -> Path | None:
    return Path(env[name]) if env.get(name) else None


def _int(env: Mapping[str, str], name: str, default: int) -> int:
    number = _float(env, name, default)
    if number != int(number):
        raise ValueError(f"{name}={env[name]}: must be a whole number.")
    return int(number)


def _float(env: Mapping[str, str], name: str, default: float) -> float:
    text = env.get(name, "")
    try:
        number = float(text) if text else float(default)
    except ValueError:
        raise ValueError(f"{name}={text}: must be a number.") from None
    if not 0 <= number < float("inf"):
        raise ValueError(f"{name}={text}: must be at least 0.")
    return number
