"""The proof of one registered checkpoint: what the files say, held against what was registered."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from checkpoints.models import Checkpoint
from safehold import manifest as manifests
from safehold.checkpointing.verification import verify
from safehold.findings import Finding, fail, verdict

Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Proof:
    """What a verification found; `facts` are its figures and digests."""

    findings: tuple[Finding, ...]
    facts: Mapping[str, Any]

    @property
    def verdict(self) -> str:
        """`fail` where the checkpoint is no recovery point."""
        return verdict(self.findings)


def prove(checkpoint: Checkpoint, progress: Progress | None = None) -> Proof:
    """Read every byte of the checkpoint once and judge it; nothing of it is run.

    Raises:
        OSError: The storage cannot be reached, which says nothing about the checkpoint.
    """
    path = Path(checkpoint.path)
    if path.resolve() != path:
        return Proof((_elsewhere(path),), {})
    if not path.exists():
        if not path.parents[2].is_dir():  # the root of all runs: the volume itself is missing
            raise FileNotFoundError(f"{path.parents[2]} is not there; is the volume mounted?")
        return Proof((_absent(path),), {})
    result = verify(path, expected=_expected(checkpoint), progress=progress)
    return Proof((*result.findings, *_differences(checkpoint, result.manifest)), result.facts)


def _expected(checkpoint: Checkpoint) -> manifests.Expected | None:
    """Return what its own run will ask of it before it loads: the hash covers network, data and tokenizer.

    None where the save names no config, as those of other tools do; the trainer judges it then.
    """
    named = manifests.parse(checkpoint.manifest).config_hash
    return manifests.Expected(config_hash=checkpoint.run.config.hash) if named else None


def _elsewhere(path: Path) -> Finding:
    return fail(
        f"{path} leads to {path.resolve()} through a link.",
        code="CKPT-5.elsewhere",
        evidence={"path": str(path), "leads_to": str(path.resolve())},
        advice="Somebody replaced a folder by a link; nothing behind it was read.",
    )


def _absent(path: Path) -> Finding:
    return fail(
        f"There is nothing at {path}.",
        code="CKPT-5.absent",
        evidence={"path": str(path)},
        advice="It was removed behind Safehold's back. Resume from another checkpoint.",
    )


def _differences(checkpoint: Checkpoint, found: manifests.Manifest | None) -> tuple[Finding, ...]:
    """Compare the manifest on disk with the registered one: both could be whole, but of two saves."""
    if found is None:
        return ()
    registered = manifests.parse(checkpoint.manifest)
    names = [
        name
        for name in ("step", "config_hash", "data_version", "tokenizer_digest")
        if getattr(registered, name) != getattr(found, name)
    ]
    # As sets: a manifest that lists its files as a map loses their order in the database.
    if set(registered.files) != set(found.files):
        names.append("files")
    if not names:
        return ()
    return (
        fail(
            f"The manifest on disk is not the registered one: {', '.join(names)} differ.",
            code="CKPT-5.registered",
            evidence={"fields": names},
            advice="Somebody wrote over the checkpoint after it was saved.",
        ),
    )
