"""Workloads that outlived their attempt: found by what is alive, not by what we remember."""

import logging
import re
from collections.abc import Iterable

from controlplane.common.errors import SafeholdError
from runs import states
from runs.models import Attempt
from runs.services import events
from workers import launchers
from workers.launchers.base import Launcher

logger = logging.getLogger(__name__)
_NAME = re.compile(r"safehold-r(\d+)-a(\d+)")


def end_orphans() -> int:
    """End what is alive under the name of an ended attempt; return how many there were.

    A name of which the database knows nothing is left alone: the database may be the one that is wrong.
    """
    return sum(_of_launcher(name) for name in launchers.names())


def _of_launcher(name: str) -> int:
    try:
        launcher = launchers.get(name)
        return sum(_end(launcher, attempt) for attempt in _ended(launcher.live_names()))
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
