"""What a manifest says of where a checkpoint comes from, apart from the state itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from typing import Any, Protocol

from safehold.checkpointing.places import Places
from safehold.checkpointing.start import Start
from safehold.config.canonical import config_hash
from safehold.manifest import Expected, expected_of


class Host(Protocol):
    """What a checkpointer needs of a run."""

    @property
    def config(self) -> Mapping[str, Any]:
        """Return the canonical config."""

    @property
    def tokens(self) -> int:
        """Return the tokens consumed so far, -1 when unknown."""

    def register_checkpoint(
        self, *, path: str, manifest: dict[str, Any], state: str, error: str | None = None
    ) -> object:
        """Tell the registry; never raises."""


@dataclass(frozen=True)
class Origin:
    """Config, places and world of an attempt."""

    config: Mapping[str, Any]
    places: Places
    world_size: int
    absent: tuple[str, ...]

    @property
    def expected(self) -> Expected:
        """Return what a checkpoint must match to be loaded by this attempt."""
        name = "" if self.places.fork else config_hash(self.config)
        return expected_of(self.config, config_hash=name, world_size=self.world_size)

    def fields(self, start: Start) -> dict[str, Any]:
        """Return the manifest's fields about the origin.

        Args:
            start: Where the attempt began.
        """
        expected = self.expected
        return {
            "created": datetime.now(UTC).isoformat(),
            "config_hash": config_hash(self.config),
            "model": expected.model,
            "tokenizer_digest": expected.tokenizer_digest,
            "data_version": expected.data_version,
            "mix_version": expected.mix_version,
            "code": {**(self.config.get("code") or {}), "safehold": _version()},
            "world": {"size": self.world_size},
            "parent": str(start.path) if start.path else None,
            "absent": self.absent,
            "origin": {
                "run": self.places.run,
                "attempt": self.places.attempt,
                "start_step": start.step,
                "takes": start.takes,
                "overrides": start.overrides,
                "notes": list(start.notes),
            },
        }


def _version() -> str:
    try:
        return version("safehold")
    except PackageNotFoundError:  # run from a source tree that was not installed
        return ""
