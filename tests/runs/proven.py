"""A finished run that proves rate and batch of a config: what a production config needs before it is approved."""

from django.utils import timezone

from runs.models import Config, Run
from runs.services import configs, runs
from tests.factories import make_attempt


def prove(config: Config) -> Config:
    """Finish an experiment with the same network, rate and batch; return the config that is proven by it."""
    experiment = configs.create_config(
        user=config.created_by,
        project=config.project,
        document=config.document | {"kind": "experiment"},
    )
    run = runs.create_run(user=config.created_by, project=config.project, config=experiment)
    Run.objects.filter(pk=run.pk).update(step=run.total_steps)
    make_attempt(run=run, state="ended", outcome="finished", ended_at=timezone.now())
    return config
