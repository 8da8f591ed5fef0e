"""Answers to what a page or the API asks for now; see `runs.services.hands`."""

from celery import shared_task

from runs.models import Cluster, Config
from runs.services import hands
from workers import clusters, previews

_TIME_LIMIT_SECONDS = 60


@shared_task(name="workers.dry_run", time_limit=_TIME_LIMIT_SECONDS)
def dry_run(*, config_id: int, launcher: str, answer_to: str = "") -> None:
    """Have a cluster check the workload of a config."""
    config = Config.objects.get(pk=config_id)
    found = previews.dry_run(config, launcher)
    hands.answer(answer_to, {"findings": [finding.to_dict() for finding in found]})


@shared_task(name="workers.try_cluster", time_limit=_TIME_LIMIT_SECONDS)
def try_cluster(*, cluster_id: int, answer_to: str = "") -> None:
    """Look at a cluster now; what was seen is in its record."""
    clusters.look_at(Cluster.objects.get(pk=cluster_id))
    hands.answer(answer_to, {"done": True})
