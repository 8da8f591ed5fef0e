"""From the records of an attempt to what a launcher needs."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from django.conf import settings

from controlplane.common.errors import SafeholdError
from runs import starts
from runs.models import Attempt, Config
from runs.services import approvals
from runs.services.attempts import token_of
from safehold.config import config_hash
from workers import clusters
from workers.launchers.base import LauncherError, LaunchSpec

# What a config without the section gets; configs made by the product always have it.
_DEFAULT_COMMAND = ("-m", "safehold.reference.train")
# Stands for an attempt that is only looked at: no workload ever has this name.
PREVIEW_NAME = "safehold-preview"


def spec_of(attempt: Attempt, *, token: str | None = None) -> LaunchSpec:
    """Return the spec; the same on every call, so a submit that is repeated repeats the same.

    Args:
        attempt: Any.
        token: Its token, for whoever must not replace one that cannot be derived any more.

    Raises:
        LauncherError: The stored document is not the one that its digest names, or a production config is not
            approved (CONF-2).
    """
    run = attempt.run
    try:
        approvals.require_approved(config=run.config)
    except SafeholdError as error:
        raise LauncherError(error.message, can_retry=False, hint=error.hint) from error
    start = attempt.start_checkpoint
    return _spec(
        run.config,
        attempt.launcher,
        name=attempt.name,
        run_id=run.pk,
        attempt=attempt.number,
        token=token_of(attempt) if token is None else token,
        resume_from=starts.path_of(start, taking=starts.STATE),
        is_fork=starts.takes(start) == starts.STATE and start.get("run") != run.pk,
        weights_from=starts.path_of(start, taking=starts.WEIGHTS),
        asked_at=attempt.requested_at.timestamp(),
    )


def preview_spec(config: Config, launcher: str) -> LaunchSpec:
    """Return the spec of an attempt that nobody asked for yet, with nothing secret in it."""
    return _spec(config, launcher, name=PREVIEW_NAME, run_id=0, attempt=0, token="")


def _spec(config: Config, launcher: str, **own: Any) -> LaunchSpec:
    document = config.document
    if config_hash(document) != config.hash:
        raise LauncherError(
            f"The document of config {config.pk} is not the one that {config.hash} names: somebody changed it.",
            can_retry=False, hint="Write the config again, and launch that.",
        )  # fmt: skip
    compute, code = document.get("compute", {}), document.get("code", {})
    return LaunchSpec(
        config=document,
        command=tuple(code.get("command", _DEFAULT_COMMAND)),
        devices=compute.get("devices", 1),
        nodes=compute.get("nodes", 1),
        # The trainer compares what it was given to read: see `safehold.environment`.
        env={"SAFEHOLD_CONFIG_HASH": config.hash},
        ingest_url=clusters.ingest_url_of(launcher),
        checkpoint_root=_root(document),  # the library adds run-<id>/a<attempt> itself
        grace_seconds=settings.SAFEHOLD_STOP_GRACE_SECONDS,
        **own,
    )


def _root(document: Mapping[str, Any]) -> Path:
    root = document.get("checkpoint", {}).get("root")
    return Path(root or settings.SAFEHOLD_CHECKPOINT_ROOT)
