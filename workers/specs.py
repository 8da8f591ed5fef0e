"""From the records of an attempt to what a launcher needs."""

from pathlib import Path

from django.conf import settings

from runs.models import Attempt
from runs.services.attempts import token_of
from workers import clusters
from workers.launchers.base import LaunchSpec

# What a config without the section gets; configs made by the product always have it.
_DEFAULT_COMMAND = ("-m", "safehold.reference.train")


def spec_of(attempt: Attempt) -> LaunchSpec:
    """Return the spec; the same on every call, so a submit that is repeated repeats the same."""
    run = attempt.run
    document = run.config.document
    compute, code = document.get("compute", {}), document.get("code", {})
    start = attempt.start_checkpoint
    return LaunchSpec(
        name=attempt.name,
        run_id=run.pk,
        attempt=attempt.number,
        config=document,
        command=tuple(code.get("command", _DEFAULT_COMMAND)),
        devices=compute.get("devices", 1),
        nodes=compute.get("nodes", 1),
        token=token_of(attempt),
        ingest_url=clusters.ingest_url_of(attempt.launcher),
        checkpoint_root=_root(document),  # the library adds run-<id>/a<attempt> itself
        resume_from=start.get("path"),
        is_fork=bool(start) and start.get("run") != run.pk,
        grace_seconds=settings.SAFEHOLD_STOP_GRACE_SECONDS,
    )


def _root(document: dict[str, dict[str, str]]) -> Path:
    root = document.get("checkpoint", {}).get("root")
    return Path(root or settings.SAFEHOLD_CHECKPOINT_ROOT)
