"""The clusters as a page and the API show them: state, what they hold, which runs wait there and why."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.utils.translation import gettext as _

from controlplane.common import access
from controlplane.common.errors import NotFound
from controlplane.common.models import User
from runs import capacity, states
from runs.forms.clusters import WAYS
from runs.models import Attempt, Cluster
from runs.templatetags import chips

MOST_WAITING = 100


@dataclass(frozen=True)
class ClusterRow:
    """One cluster with what was last seen of it."""

    cluster: Cluster
    waiting: list[Attempt]

    @property
    def word(self) -> str:
        """The word of its state: that of the last look, or that none is made."""
        return self.cluster.state if self.cluster.is_enabled else "disabled"

    @property
    def device_types(self) -> list[capacity.DeviceType]:
        """Its devices by type."""
        return capacity.device_types(self.cluster.survey)

    @property
    def nodes(self) -> list[dict[str, Any]]:
        """Its nodes, those in trouble first."""
        return capacity.nodes_of(self.cluster.survey)

    @property
    def sees_nodes(self) -> bool:
        """Whether we may see its nodes at all; before the first look nobody knows."""
        return not self.cluster.survey or self.cluster.survey.get("nodes") is not None

    @property
    def queues(self) -> list[str]:
        """Its Kueue queues in our namespace."""
        return list(self.cluster.survey.get("queues") or [])

    @property
    def summary(self) -> str:
        """State and free devices in a few words, for a choice among clusters."""
        free = [
            _("%(free)s of %(total)s %(device)s free")
            % {"free": one.free, "total": one.total, "device": one.name}
            for one in self.device_types
        ]
        return ", ".join([str(chips.LOOKS[self.word].word).lower(), *free])

    @property
    def way(self) -> str:
        """How it is reached."""
        return str(dict(WAYS)[Cluster.Way(self.cluster.way)])

    @property
    def ingest_url(self) -> str:
        """Where its pods report to."""
        return self.cluster.ingest_url or str(settings.SAFEHOLD_INGEST_URL)


def table(user: User) -> list[ClusterRow]:
    """Return all clusters, with the runs of this person's projects that wait there, in two queries."""
    clusters = list(Cluster.objects.select_related("created_by"))
    waiting = _waiting(user, [one.launcher for one in clusters])
    return [ClusterRow(one, waiting[one.launcher]) for one in clusters]


def row(user: User, name: str) -> ClusterRow:
    """Return one cluster.

    Raises:
        NotFound: There is none of that name.
    """
    found = Cluster.objects.select_related("created_by").filter(name=name).first()
    if found is None:
        raise NotFound(_("There is no cluster %(name)s.") % {"name": name})
    return ClusterRow(found, _waiting(user, [found.launcher])[found.launcher])


def _waiting(user: User, launchers: Iterable[str]) -> dict[str, list[Attempt]]:
    found: dict[str, list[Attempt]] = defaultdict(list)
    before = (states.State.REQUESTED, states.State.SUBMITTING, states.State.WAITING)
    attempts = Attempt.objects.filter(
        launcher__in=list(launchers), state__in=before, run__project__in=access.projects_of(user)
    ).select_related("run")
    for attempt in attempts.order_by("requested_at")[:MOST_WAITING]:
        found[attempt.launcher].append(attempt)
    return found
