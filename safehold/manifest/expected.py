"""What the current config says a checkpoint must match."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Expected:
    """The facts of the run that wants to load; an empty one is not compared.

    Attributes:
        config_hash: Left empty on a fork, where the config differs on purpose.
        model: The config's `[network]`.
        world: `size`: the number of ranks now.
    """

    config_hash: str = ""
    model: Mapping[str, Any] = field(default_factory=dict)
    tokenizer_digest: str = ""
    data_version: str = ""
    mix_version: str = ""
    world: Mapping[str, Any] = field(default_factory=dict)


def expected_of(
    config: Mapping[str, Any], *, config_hash: str = "", world_size: int | None = None
) -> Expected:
    """Return what a run with this config (the canonical document) must find in a checkpoint."""
    data = config.get("data") or {}
    return Expected(
        config_hash=config_hash,
        model=dict(config.get("network") or {}),
        tokenizer_digest=str((config.get("tokenizer") or {}).get("digest") or ""),
        data_version=str(data.get("version") or ""),
        mix_version=mix_version(data.get("mix")),
        world={} if world_size is None else {"size": world_size},
    )


def mix_version(mix: object) -> str:
    """Return the SHA-256 of the mix's canonical JSON; "no mix" has a version too."""
    content = json.dumps(mix or {}, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(content.encode()).hexdigest()
