"""Keeping what a look showed beside the judgement: pods, warnings of the cluster, drift. Nothing is decided by it."""

import logging
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Protocol, runtime_checkable

from django.utils import timezone

from controlplane.common.errors import SafeholdError
from runs.models import Attempt, Event, Sight
from runs.services import events, logs, sights
from runs.services.attempt_tokens import known_token
from runs.states import LIVE_STATES
from safehold.findings import Finding, fail
from workers import specs
from workers.kube.drift import CODE
from workers.kube.showing import Shown, Warned
from workers.launchers.base import LauncherError, LaunchSpec

logger = logging.getLogger(__name__)
# Found within a minute (CONF-2), and no look at every sweep: it reads a Secret.
DRIFT_EVERY = timedelta(seconds=30)
# Of 200 pods that fail alike a few tell all.
MOST_OUTPUTS = 5


@runtime_checkable
class Shows(Protocol):
    """A launcher that can show more of a workload than its state."""

    def show(self, name: str) -> Shown:
        """Return its pods and warnings.

        Raises:
            LauncherError: It cannot be seen.
        """
        ...

    def drift(
        self, spec: LaunchSpec, *, handle: Mapping[str, Any] = {}, known_images: Iterable[str] = ()
    ) -> list[Finding]:
        """Return where it is not what the spec says.

        Raises:
            LauncherError: It cannot be seen.
        """
        ...


@runtime_checkable
class Prints(Protocol):
    """A launcher that can still read what a dead part of a workload printed."""

    def output(self, name: str, pod: str) -> bytes:
        """Return it.

        Raises:
            LauncherError: It cannot be seen (any more).
        """
        ...


def keep(attempt: Attempt | None, launcher: object) -> None:
    """Keep what can be seen now; a trouble here never holds up reconciliation."""
    if attempt is None or attempt.is_over or not isinstance(launcher, Shows):
        return
    try:
        shown = launcher.show(attempt.name)
        sights.record_pods(attempt=attempt, pods=shown.rows)
        _tell(attempt, shown.warnings)
        _keep_output(attempt, launcher, shown)
        _compare(attempt, launcher, shown)
    except SafeholdError as error:
        logger.info("sight.not_seen", extra={"attempt_id": attempt.pk, "error": error.message})
    except Exception:
        logger.exception("sight.not_kept", extra={"attempt_id": attempt.pk})


def _tell(attempt: Attempt, warnings: Sequence[Warned]) -> None:
    keys = {f"kube:{attempt.pk}:{one.key}"[:120]: one for one in warnings}
    known = set(Event.objects.filter(key__in=keys).values_list("key", flat=True)) if keys else set()
    for key, one in keys.items():
        if key not in known:
            at = datetime.fromisoformat(one.at) if one.at else None
            events.record(
                run=attempt.run, attempt=attempt, kind="cluster", message=one.message, key=key, at=at
            )  # fmt: skip


def _keep_output(attempt: Attempt, launcher: Shows, shown: Shown) -> None:
    """Keep what pods printed whose wrapper could send nothing: an image without it, a program that is not there."""
    if not isinstance(launcher, Prints):
        return
    for pod, index in shown.mute[:MOST_OUTPUTS]:
        source = f"pod-{index}"
        if logs.next_offset(attempt, source):
            continue
        try:
            data = launcher.output(attempt.name, pod)
        except LauncherError as error:
            facts = {"attempt_id": attempt.pk, "pod": pod, "error": error.message}
            logger.info("output.not_read", extra=facts)
            return
        if data:
            logs.append_log(attempt=attempt, source=source, offset=0, data=data)


def _compare(attempt: Attempt, launcher: Shows, shown: Shown) -> None:
    if attempt.state not in LIVE_STATES:
        return
    now = timezone.now()
    sight = Sight.objects.filter(attempt=attempt).first()
    if sight and sight.drift_checked_at and now - sight.drift_checked_at < DRIFT_EVERY:
        return
    found = _differences(attempt, launcher)
    sights.record_drift(
        attempt=attempt,
        findings=[one.to_dict() for one in found],
        image_ids=shown.image_ids,
        at=now,
    )


def _differences(attempt: Attempt, launcher: Shows) -> Sequence[Finding]:
    try:
        spec = specs.spec_of(attempt, token=known_token(attempt))
    except LauncherError as error:  # what is stored is itself no longer what was launched
        evidence = {"field": "config", "where": "the record of the config"}
        return [fail(error.message, code=CODE, evidence=evidence, advice=error.hint)]
    return launcher.drift(spec, handle=attempt.handle, known_images=_earlier_images(attempt))


def _earlier_images(attempt: Attempt) -> list[str]:
    """Return what earlier attempts of the run ran: one config, one image, whatever its tag points at today."""
    earlier = Sight.objects.filter(attempt__run=attempt.run_id, attempt__number__lt=attempt.number)
    return sorted({one for ids in earlier.values_list("image_ids", flat=True) for one in ids})
