"""Looking at every cluster now and then: health, capacity, queues."""

import logging

from celery import shared_task

from controlplane.common.queue import wake
from runs.models import Cluster
from workers.clusters import look_at

logger = logging.getLogger(__name__)


@shared_task(name="workers.survey_clusters", acks_late=True, time_limit=60)
def survey_clusters() -> None:
    """Ask for a look at each cluster; one that hangs holds up no other."""
    for cluster_id in Cluster.objects.filter(is_enabled=True).values_list("pk", flat=True):
        wake("workers.survey_cluster", cluster_id=cluster_id)


@shared_task(name="workers.survey_cluster", acks_late=True, time_limit=90)
def survey_cluster(*, cluster_id: int) -> None:
    """Look at one cluster and record what was seen; safe to repeat."""
    cluster = Cluster.objects.filter(pk=cluster_id, is_enabled=True).first()
    if cluster is not None:
        look_at(cluster)
