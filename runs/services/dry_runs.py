"""Whether a cluster would take the workload of a config: asked of it through a worker, before a launch."""

from django.utils import translation

from runs.models import Config
from runs.services import hands
from safehold.findings import Finding, unknown

CODE = "LAUNCH-1.dry_run"


def dry_run(*, config: Config, launcher: str) -> list[Finding]:
    """Return what the cluster says, field by field; `unknown` where it, or a worker, cannot be asked.

    Args:
        config: Committed, or the worker does not find it.
        launcher: `kubernetes:CLUSTER`.
    """
    try:
        # What is kept of a report is in one language.
        with translation.override(None):
            told = hands.ask("workers.dry_run", config_id=config.pk, launcher=launcher)
    except hands.NoAnswer as error:
        message = f"{launcher} was not asked whether it takes the workload. {error.message}"
        return [unknown(message, code=CODE, advice=error.hint)]
    return [Finding.from_dict(one) for one in told["findings"]]
