"""From the record of a cluster to what talks to it."""

from dataclasses import asdict

from django.conf import settings

from controlplane.common.errors import NotFound, SafeholdError
from runs.models import Cluster
from runs.services import clusters
from workers.kube.api import Kube
from workers.kube.connecting import Credentials
from workers.kube.objects import Place
from workers.kube.survey import survey


def kube_of(cluster: Cluster) -> Kube:
    """Return the client of a cluster.

    Raises:
        CannotDecrypt: Its credentials were stored with another key.
    """
    held = clusters.credentials_of(cluster)
    return Kube(Credentials(**held, is_in_cluster=cluster.way == Cluster.Way.IN_CLUSTER))


def place_of(cluster: Cluster) -> Place:
    """Return where our objects go."""
    return Place(namespace=cluster.namespace, owner=cluster.owner, image=cluster.image)


def cluster_called(name: str) -> Cluster:
    """Return the cluster of this name.

    Raises:
        NotFound: There is no such cluster.
    """
    cluster = Cluster.objects.filter(name=name).first()
    if cluster is None:
        raise NotFound(
            f"There is no cluster called {name}.", hint="Register it, or choose another launcher."
        )
    return cluster


def ingest_url_of(launcher: str) -> str:
    """Return the control plane's address as the processes of this launcher see it.

    Raises:
        NotFound: The launcher names a cluster that is not there.
    """
    kind, _, name = launcher.partition(":")
    own = cluster_called(name).ingest_url if kind == "kubernetes" else ""
    return own or str(settings.SAFEHOLD_INGEST_URL)


def look_at(cluster: Cluster) -> None:
    """Look at a whole cluster once and record what was seen."""
    try:
        kube = kube_of(cluster)
        # One that takes connections and says nothing must not keep a worker for a whole time-out.
        kube.require_answer()
        seen = survey(kube, cluster.namespace)
    except SafeholdError as error:  # also credentials that cannot be read
        clusters.record_unreachable(cluster=cluster, reason=error.message)
        return
    nodes = None if seen.nodes is None else [asdict(node) for node in seen.nodes]
    facts = {"nodes": nodes, "capacity": seen.capacity, "queues": list(seen.queues)}
    facts["groups"] = sorted(seen.groups)
    clusters.record_survey(cluster=cluster, version=seen.version, survey=facts)
