"""`/api/v1/clusters`: where runs can be launched. What was registered to reach one never comes out again."""

from datetime import datetime
from typing import Any, Literal

from django.http import HttpRequest
from ninja import Router, Status
from pydantic import Field

from controlplane.common import access
from controlplane.common.api import Input, Output, caller
from controlplane.common.models import User
from runs import cluster_table
from runs.cluster_table import ClusterRow
from runs.services import clusters, hands

router = Router(tags=["clusters"])


class ClusterIn(Input):
    """A cluster to register, or under a name that exists, to give new credentials and settings."""

    name: str = Field(description="Lower case letters, digits and -, at most 28.")
    way: Literal["kubeconfig", "token", "in_cluster"] = "kubeconfig"
    namespace: str = Field("", description="That of the kubeconfig's context when empty.")
    image: str = Field(description="The trainer image for configs that name none.")
    kubeconfig: str = Field("", description="YAML or JSON, with the credentials inside.")
    url: str = Field("", description="Of the API server, with a token.")
    token: str = Field("", description="Of a service account.")
    ca_certificate: str = Field("", description="PEM.")
    ingest_url: str = Field("", description="The control plane's address as its pods see it.")


class DevicesOut(Output):
    """The devices of one type; `free` may be held by others, which is not seen."""

    name: str
    total: int
    ours: int
    out: int
    free: int


class WaitingOut(Output):
    """A run that waits for the cluster."""

    run: int
    name: str
    attempt: int
    state: str
    since: datetime
    why: str


class ClusterOut(Output):
    """A cluster and what was last seen of it."""

    name: str
    launcher: str
    namespace: str
    way: str
    image: str
    ingest_url: str
    is_enabled: bool
    state: str
    since: datetime | None
    reason: str
    version: str
    seen_at: datetime | None
    devices: list[DevicesOut]
    queues: list[str]
    workloads: list[str] = Field(description="API groups of workloads that it serves.")
    waiting: list[WaitingOut]


class NodeOut(Output):
    """One node."""

    name: str
    state: str
    device: str
    num_devices: int
    num_ours: int
    reason: str


class ClusterDetailOut(ClusterOut):
    """A cluster with its nodes; null where they may not be seen."""

    nodes: list[NodeOut] | None


class ClustersOut(Output):
    """All clusters."""

    items: list[ClusterOut]
    next: None = None


@router.get("", response=ClustersOut, summary="List clusters")
def list_clusters(request: HttpRequest) -> Any:
    """List the clusters, with what is free there and which of your runs wait."""
    return {"items": [_shape(row) for row in cluster_table.table(caller(request))]}


@router.post("", response={201: ClusterDetailOut}, summary="Register a cluster")
def register(request: HttpRequest, body: ClusterIn) -> Any:
    """Register a cluster, or renew one; for administrators of the service."""
    user = _administrator(request, "cluster.register")
    made = clusters.register_cluster(user=user, **body.model_dump())
    return Status(201, _detail(cluster_table.row(user, made.name)))


@router.get("/{name}", response=ClusterDetailOut, summary="Show a cluster")
def show(request: HttpRequest, name: str) -> Any:
    """Show a cluster with its nodes."""
    return _detail(cluster_table.row(caller(request), name))


@router.delete("/{name}", response={204: None}, summary="Remove a cluster")
def remove(request: HttpRequest, name: str) -> Any:
    """Forget a cluster that no run uses; for administrators of the service."""
    user = _administrator(request, "cluster.remove")
    clusters.remove_cluster(user=user, cluster=cluster_table.row(user, name).cluster)
    return Status(204, None)


@router.post("/{name}/test", response=ClusterDetailOut, summary="Test the connection to a cluster")
def test(request: HttpRequest, name: str) -> Any:
    """Look at a cluster now, through a worker; for administrators of the service."""
    user = _administrator(request, "cluster.test")
    hands.ask("workers.try_cluster", cluster_id=cluster_table.row(user, name).cluster.pk)
    return _detail(cluster_table.row(user, name))


def _administrator(request: HttpRequest, act: str) -> User:
    """Return the caller, who may do this."""
    access.require_service(caller(request), act)
    return caller(request)


def _shape(row: ClusterRow) -> dict[str, Any]:
    cluster = row.cluster
    plain = ("name", "launcher", "namespace", "way", "image", "is_enabled", "reason", "version")
    groups = set(cluster.survey.get("groups") or [])
    return {name: getattr(cluster, name) for name in plain} | {
        "ingest_url": row.ingest_url,
        "state": row.word,
        "since": cluster.state_at,
        "seen_at": cluster.surveyed_at,
        "devices": row.device_types,
        "queues": row.queues,
        "workloads": sorted(groups & {"batch", "jobset.x-k8s.io", "trainer.kubeflow.org"}),
        "waiting": [
            {"run": one.run_id, "name": one.run.name, "attempt": one.number, "state": one.state,
             "since": one.requested_at, "why": one.reason}
            for one in row.waiting
        ],
    }  # fmt: skip


def _detail(row: ClusterRow) -> dict[str, Any]:
    shown = ("name", "device", "num_devices", "num_ours", "reason")
    nodes = [{name: node[name] for name in shown} | {"state": node["word"]} for node in row.nodes]
    return _shape(row) | {"nodes": nodes if row.cluster.survey.get("nodes") is not None else None}
