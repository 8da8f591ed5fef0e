"""How a view or an API call gets a checkpoint: only through the rights of the person in its project."""

from checkpoints.models import Checkpoint
from controlplane.common import access
from controlplane.common.errors import NotFound
from controlplane.common.models import Role, User

_LARGEST_ID = 2**63 - 1


def checkpoint_for(
    user: User, checkpoint_id: int, *, change: bool = False, manifest: bool = False
) -> Checkpoint:
    """Return the checkpoint that this person may see, or with `change` may act on.

    Args:
        user: Who asks.
        checkpoint_id: Any number.
        change: Whether the person wants to act on it.
        manifest: Load the manifest too; it can take megabytes.

    Raises:
        NotFound: There is none, or the person is no member of its project.
        Forbidden: The person may see it, but not act.
    """
    rows = Checkpoint.objects.select_related("run__project", "run__config", "attempt", "parent")
    rows = (
        rows.defer("parent__manifest") if manifest else rows.defer("manifest", "parent__manifest")
    )
    found = rows.filter(pk=checkpoint_id).first() if 0 < checkpoint_id <= _LARGEST_ID else None
    if found is None:
        raise NotFound(
            f"There is no checkpoint {checkpoint_id}, or you are no member of its project."
        )
    access.require(user, found.run.project_id, Role.OPERATOR if change else Role.VIEWER)
    return found
