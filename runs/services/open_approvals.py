"""What waits for a second person: told to those who may be the one."""

from controlplane.common.models import Project, User
from runs.models import Approval


def count_for(user: User, project: Project) -> int:
    """Return how many requests an approver of the project could decide: not her own, nor of a config she wrote."""
    asked = Approval.objects.filter(config__project=project, state=Approval.State.REQUESTED)
    return asked.exclude(requested_by=user).exclude(config__created_by=user).count()
