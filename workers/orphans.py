"""Workloads that outlived their attempt: found by what is alive, not by what we remember."""

import logging
import re
from collections.abc import Callable, Iterable
from datetime import timedelta

from django.utils import timezone

from controlplane.common.errors import NotFound, SafeholdError
from runs import states
from runs.models import Attempt, Cluster
from runs.services import events
from workers import launchers
from workers.launchers.base import Cleaner, Launcher, LauncherError

logger = logging.getLogger(__name__)
# How long the name of an ended attempt stays taken: longer than a task may live that is about to start it
# (180 s) and a request of it may be on its way. Until then a late start finds the name in use.
KEEP = timedelta(seconds=300)
# A sweep removes so many at most; the next one goes on.
MOST = 100
_NAME = re.compile(r"safehold-r(\d+)-a(\d+)")


def end_orphans() -> int:
    """End what is alive under the name of an ended attempt; return how many there were.

    A name of which the database knows nothing is left alone: the database may be the one that is wrong.
    """
    return _everywhere(
        lambda launcher: sum(_end(launcher, attempt) for attempt in _ended(launcher.live_names()))
    )


def clean_up() -> int:
    """Remove what ended attempts left in their launchers, once nobody can be starting them any more."""
    return _everywhere(_clean_launcher)


def _clean_launcher(launcher: Launcher) -> int:
    if not isinstance(launcher, Cleaner):
        return 0
    before = timezone.now() - KEEP
    done = [a for a in _ended(launcher.names()) if a.ended_at is not None and a.ended_at < before]
    return sum(_clean(launcher, attempt) for attempt in done[:MOST])


def _clean(launcher: Cleaner, attempt: Attempt) -> bool:
    try:
        launcher.clean(attempt.name)
    except LauncherError as error:
        if error.can_retry:  # it would be the same for all
            raise
        logger.warning("leftover.kept", extra={"workload": attempt.name, "error": error.message})
        return False
    return True


def _everywhere(act: Callable[[Launcher], int]) -> int:
    return sum(_at(name, act) for name in _launcher_names())


def _launcher_names() -> Iterable[str]:
    """Yield the launchers that attempts can have, one for each cluster."""
    for name in launchers.names():
        if name == "kubernetes":
            reachable = Cluster.objects.exclude(state=Cluster.State.UNREACHABLE)
            clusters = reachable.order_by("name").values_list("name", flat=True)
            yield from (f"{name}:{cluster}" for cluster in clusters)
        else:
            yield name


def _at(name: str, act: Callable[[Launcher], int]) -> int:
    try:
        return act(launchers.get(name))
    except NotFound:  # a launcher that is not set up here has started nothing
        return 0
    except SafeholdError as error:
        logger.warning("orphans.not_looked_for", extra={"launcher": name, "error": str(error)})
    except Exception:
        # A launcher that is broken or not set up must not keep the others from their turn.
        logger.exception("orphans.failed", extra={"launcher": name})
    return 0


def _ended(names: Iterable[str]) -> list[Attempt]:
    """Return the attempts among these names that have ended."""
    wanted = {(int(found[1]), int(found[2])) for name in names if (found := _NAME.fullmatch(name))}
    if not wanted:
        return []
    of_runs = Attempt.objects.filter(run_id__in={run_id for run_id, _ in wanted})
    ended = of_runs.filter(state=states.State.ENDED).select_related("run")
    return [attempt for attempt in ended if (attempt.run_id, attempt.number) in wanted]


def _end(launcher: Launcher, attempt: Attempt) -> bool:
    try:
        launcher.kill(attempt.name, attempt.handle)
    except SafeholdError as error:
        logger.warning("orphan.not_ended", extra={"workload": attempt.name, "error": str(error)})
        return False
    events.record(
        run=attempt.run, attempt=attempt, kind="orphan_ended", key=f"orphan:{attempt.pk}",
        message="Something of the ended attempt was still alive and was ended.",
    )  # fmt: skip
    return True
