"""How a view or an API call gets a checkpoint: only through the rights of the person in its project."""

from django.utils.translation import gettext as _

from checkpoints.models import Checkpoint
from controlplane.common import access
from controlplane.common.errors import NotFound
from controlplane.common.models import User
from controlplane.common.rights import CHANGES, READ

_LARGEST_ID = 2**63 - 1


def checkpoint_for(
    user: User, checkpoint_id: int, *, change: bool = False, act: str = "", manifest: bool = False
) -> Checkpoint:
    """Return the checkpoint that this person may see, or with `change` may act on.

    Args:
        user: Who asks.
        checkpoint_id: Any number.
        change: Whether the person wants to act on it somehow.
        act: How, as in `controlplane.common.rights`; needed where not every operator may.
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
        raise _not_found(checkpoint_id)
    try:
        access.require(
            user, found.run.project_id, act or (CHANGES["checkpoint"] if change else READ)
        )
    except NotFound:  # in the very words that a missing one gives
        raise _not_found(checkpoint_id) from None
    return found


def _not_found(checkpoint_id: int) -> NotFound:
    told = _("There is no checkpoint %(id)s, or you are no member of its project.")
    return NotFound(told % {"id": checkpoint_id})
