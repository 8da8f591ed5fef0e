"""Checkpoints and manifests for tests."""

import itertools
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from checkpoints.models import Checkpoint
from checkpoints.services import lineage, registry, verification
from runs.models import Attempt
from safehold.findings import fail, passed
from safehold.manifest import read
from tests.factories import make_attempt, make_run

CASES = Path(__file__).resolve().parents[1] / "cases" / "checkpoints"
_digests = itertools.count(1)


def make_manifest(step: int = 100, **changes: Any) -> dict[str, Any]:
    """Return the manifest of a small checkpoint as the writer would send it."""
    names = {"model": "model.safetensors", "optimizer": "optimizer.safetensors"}
    names |= {name: f"{name}.json" for name in ("scheduler", "rng", "sampler")}
    tensors = [{"name": "wte.weight", "shape": [256, 64], "dtype": "F32"}]
    return {
        "format_version": 1,
        "step": step,
        "tokens": step * 1024,
        "kind": "anchor",
        "created": "2026-05-01T12:00:00Z",
        "config_hash": "blake3:" + "c" * 64,
        "model": {"layers": 2, "width": 64},
        "tokenizer_digest": "blake3:" + "e" * 64,
        "data_version": "blake3:" + "d" * 64,
        "mix_version": "",
        "code": {"commit": "abc1234"},
        "world": {"size": 2},
        "parent": None,
        "origin": {},
        "absent": [],
        "digest_algorithm": "blake3",
        "files": [
            {"path": name, "size": 1000, "digest": f"{next(_digests):064x}"}
            for name in names.values()
        ],
        "components": {
            part: {"files": [name], "tensors": tensors if part in ("model", "optimizer") else []}
            for part, name in names.items()
        },
    } | changes


def path_of(attempt: Attempt, step: int) -> Path:
    """Return where this attempt saves this step."""
    root = Path(settings.SAFEHOLD_CHECKPOINT_ROOT)
    return root / f"run-{attempt.run_id}" / f"a{attempt.number}" / f"step-{step}"


def save(attempt: Attempt, step: int, state: str = "complete", **changes: Any) -> Checkpoint:
    """Register a save of the attempt, as the trainer does."""
    error = changes.pop("error", None)
    return registry.register(
        attempt=attempt,
        path=changes.pop("path", None) or str(path_of(attempt, step)),
        manifest=make_manifest(step, **changes),
        state=state,
        error=error,
    )


def verify(checkpoint: Checkpoint, *, is_whole: bool = True) -> Checkpoint:
    """Record a verification of the checkpoint, as the worker does."""
    from checkpoints.services import claims

    asked = verification.request(checkpoint=checkpoint)
    claimed = claims.claim(verification_id=asked.pk, worker="test")
    assert claimed is not None
    finding = (
        passed("Every byte is as it was written.", code="CKPT-5.digest")
        if is_whole
        else fail("optimizer.pt has another digest.", code="CKPT-5.digest")
    )
    verdict = "pass" if is_whole else "fail"
    assert verification.record(
        verification=claimed, verdict=verdict, findings=[finding], facts={"bytes": 5000}
    )
    checkpoint.refresh_from_db()
    return checkpoint


def make_checkpoint(*, state: str = "verified", step: int = 100, **changes: Any) -> Checkpoint:
    """Return a checkpoint in this state, brought there through the services where they can."""
    attempt = changes.pop("attempt", None) or make_attempt(
        run=changes.pop("run", None) or make_run()
    )
    if state in {"writing", "failed", "complete"}:
        return save(attempt, step, state, **changes)
    with transaction.atomic():  # so that no worker of a live service is quicker
        checkpoint = verify(save(attempt, step, **changes), is_whole=state != "damaged")
    if state == "stable":
        Checkpoint.objects.filter(pk=checkpoint.pk).update(state=state)
        checkpoint.refresh_from_db()
    return checkpoint


def begin(attempt: Attempt, checkpoint: Checkpoint, takes: str = "state") -> None:
    """Record that the attempt began from the checkpoint."""
    lineage.record_start(attempt=attempt, checkpoint=checkpoint, takes=takes)


def end(attempt: Attempt, outcome: str = "failed") -> None:
    """End the attempt without the launcher."""
    attempt.state, attempt.outcome, attempt.ended_at = "ended", outcome, timezone.now()
    attempt.save(update_fields=["state", "outcome", "ended_at"])


def case(name: str) -> Path:
    """Return a checkpoint of the shared cases."""
    return CASES / name


def manifest_of(folder: Path) -> dict[str, Any]:
    """Return the manifest of a folder in our form."""
    return read(folder).to_dict()
