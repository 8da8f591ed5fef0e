"""The fields of a manifest, version 1."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

FORMAT_VERSION = 1
FILE_NAME = "manifest.json"
COMPONENTS = ("model", "optimizer", "scheduler", "rng", "sampler", "scaler")
# A loss scaler exists only with 16-bit floats; without one of the others a run cannot go on exactly.
REQUIRED = ("model", "optimizer", "scheduler", "rng", "sampler")

Kind = Literal["anchor", "snapshot"]


class ManifestError(ValueError):
    """A manifest that cannot be read; the message names the file and the field."""


@dataclass(frozen=True, slots=True)
class FileEntry:
    """One file: its path below the checkpoint's folder, its size and its digest in hex."""

    path: str
    size: int
    digest: str


@dataclass(frozen=True, slots=True)
class TensorEntry:
    """One tensor: its name, shape and dtype (safetensors' words: F32, BF16, I64 ...)."""

    name: str
    shape: tuple[int, ...]
    dtype: str


@dataclass(frozen=True, slots=True)
class Component:
    """One part of the state.

    Attributes:
        files: Paths, each of them in `Manifest.files`.
        tensors: What the files hold, stated so that a page can list it without opening them.
        aliases: Tied tensors: name -> the name under which the shared tensor is stored.
    """

    files: tuple[str, ...]
    tensors: tuple[TensorEntry, ...] = ()
    aliases: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Manifest:
    """What a checkpoint holds and where it came from.

    Attributes:
        step: Optimizer steps done.
        tokens: Tokens consumed so far, -1 when unknown.
        created: ISO 8601, UTC.
        model: The network's structure, as in the config's `[network]`.
        code: Commit or digest of the code that trained, as the config names it.
        world: `size`, and `rng`: a digest of each rank's random state, taken in memory.
        parent: The checkpoint folder that the attempt began from, or None.
        origin: `run`, `attempt`, what it `takes` of the parent (its state or its weights) and, on a fork, the
            `overrides` in force.
        absent: Components that the script declared not to have.
    """

    step: int
    files: tuple[FileEntry, ...]
    components: Mapping[str, Component]
    digest_algorithm: str = "blake3"
    tokens: int = -1
    kind: str = "anchor"
    created: str = ""
    config_hash: str = ""
    model: Mapping[str, Any] = field(default_factory=dict)
    tokenizer_digest: str = ""
    data_version: str = ""
    mix_version: str = ""
    code: Mapping[str, Any] = field(default_factory=dict)
    world: Mapping[str, Any] = field(default_factory=dict)
    parent: str | None = None
    origin: Mapping[str, Any] = field(default_factory=dict)
    absent: tuple[str, ...] = ()
    format_version: int = FORMAT_VERSION

    @property
    def size_bytes(self) -> int:
        """Return the bytes of all files, without the manifest itself."""
        return sum(entry.size for entry in self.files)

    @property
    def missing_components(self) -> tuple[str, ...]:
        """Return the parts without which a run cannot go on exactly."""
        return tuple(
            name for name in REQUIRED if name not in self.components and name not in self.absent
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the document as JSON holds it."""
        document = asdict(self)
        return {"format_version": document.pop("format_version"), **document}
