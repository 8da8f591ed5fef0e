"""Workloads that outlived their attempt: found by what is alive, not by what we remember."""

import logging
import re

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

    A name of which the database knows nothing is only told: the database may be the one that is wrong.
    """
    return sum(_of_launcher(name) for name in launchers.names())


def _of_launcher(name: str) -> int:
    try:
        launcher = launchers.get(name)
        living = list(launcher.live_names())
    except SafeholdError as error:
        logger.warning("orphans.not_looked_for", extra={"launcher": name, "error": str(error)})
        return 0
    return sum(_see_to(launcher, workload) for workload in living)


def _see_to(launcher: Launcher, workload: str) -> bool:
    match = _NAME.fullmatch(workload)
    found = match and Attempt.objects.filter(run_id=int(match[1]), number=int(match[2])).first()
    if not found:
        logger.warning("orphan.unknown", extra={"workload": workload})
        return False
    if found.state != states.State.ENDED:
        return False
    try:
        launcher.kill(workload, found.handle)
    except SafeholdError as error:
        logger.warning("orphan.not_ended", extra={"workload": workload, "error": str(error)})
        return False
    events.record(
        run=found.run, attempt=found, kind="orphan_ended", key=f"orphan:{found.pk}",
        message="Something of the ended attempt was still alive and was ended.",
    )  # fmt: skip
    return True
