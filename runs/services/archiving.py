"""What stands against archiving a project: nobody could stop what still runs in it."""

from controlplane.common.models import Project
from runs.models import Attempt


def what_is_at_work(project: Project) -> str:
    """Return in a sentence which run is still at work; empty when none is."""
    working = Attempt.objects.filter(run__project=project).exclude(state=Attempt.State.ENDED)
    found = working.select_related("run").order_by("run_id").first()
    return (
        f"run {found.run_id} ({found.run.name}) is {found.state}; stop it first." if found else ""
    )
