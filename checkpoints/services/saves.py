"""What a writer tells of one save, checked before it is recorded."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from checkpoints import places
from checkpoints.models import Checkpoint
from checkpoints.states import State
from controlplane.common.errors import Invalid
from safehold import manifest as manifests

_MOST_STEPS = 2**63 - 1
# What a writer may tell; the rest is told by verifications.
TOLD_STATES = (State.WRITING, State.COMPLETE, State.FAILED)


@dataclass(frozen=True, kw_only=True)
class Save:
    """The facts of one save as its manifest states them."""

    state: State
    step: int
    kind: str
    tokens: int | None
    size_bytes: int = 0
    config_hash: str = ""
    data_version: str = ""
    tokenizer_digest: str = ""
    manifest: dict[str, Any]

    def columns(self) -> dict[str, Any]:
        """Return the columns that repeat the manifest, for lists and filters."""
        return {
            "tokens": self.tokens,
            "size_bytes": self.size_bytes,
            "config_hash": self.config_hash,
            "data_version": self.data_version,
            "tokenizer_digest": self.tokenizer_digest,
            "manifest": self.manifest,
        }


def read_save(manifest: object, state: object) -> Save:
    """Read what was sent; a complete save needs a whole manifest, the others at least the step.

    Raises:
        Invalid: A field is missing or wrong; it is named.
    """
    told = _told_state(state)
    if not isinstance(manifest, dict):
        raise Invalid("`manifest` must be a map.", fields={"manifest": ["must be a map"]})
    document = places.storable(manifest)
    return _whole(document) if told is State.COMPLETE else _begun(document, told)


def _told_state(state: object) -> State:
    if state not in TOLD_STATES:
        words = "one of " + ", ".join(TOLD_STATES)
        raise Invalid(f"`state` is {state!r}; it must be {words}.", fields={"state": [words]})
    return State(str(state))


def _whole(document: dict[str, Any]) -> Save:
    try:
        read = manifests.parse(document)
    except manifests.ManifestError as error:
        raise Invalid(
            f"The manifest is refused: {error}", fields={"manifest": [str(error)]}
        ) from error
    return Save(
        state=State.COMPLETE,
        step=_step(read.step),
        kind=_kind(read.kind),
        tokens=None if read.tokens < 0 else read.tokens,
        size_bytes=read.size_bytes,
        config_hash=_short(read.config_hash, "config_hash"),
        data_version=_short(read.data_version, "data_version"),
        tokenizer_digest=_short(read.tokenizer_digest, "tokenizer_digest"),
        manifest=document,
    )


def _begun(document: dict[str, Any], state: State) -> Save:
    tokens = document.get("tokens")
    known = isinstance(tokens, int) and 0 <= tokens <= _MOST_STEPS
    return Save(
        state=state,
        step=_step(document.get("step")),
        kind=_kind(document.get("kind", Checkpoint.Kind.ANCHOR)),
        tokens=tokens if known else None,
        manifest=document,
    )


def _step(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= _MOST_STEPS:
        words = "must be a whole number from 0 on"
        raise Invalid(
            f"`manifest.step` is {value!r}; it {words}.", fields={"manifest.step": [words]}
        )
    return value


def _kind(value: object) -> str:
    if value not in Checkpoint.Kind.values:
        words = "must be anchor or snapshot"
        raise Invalid(
            f"`manifest.kind` is {value!r}; it {words}.", fields={"manifest.kind": [words]}
        )
    return str(value)


def _short(value: str, name: str) -> str:
    if len(value) > 80:
        words = "is longer than 80 characters"
        raise Invalid(f"`manifest.{name}` {words}.", fields={f"manifest.{name}": [words]})
    return value
