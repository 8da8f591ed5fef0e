"""The demo run: a small network that really trains, on text that every machine has."""

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from controlplane import environment as env
from controlplane.common.errors import SafeholdError
from controlplane.service.console import complain, say, tell

if TYPE_CHECKING:
    from controlplane.common.models import User
    from runs.models import Run
    from safehold.reference.corpus import Prepared

ROOT = Path(__file__).resolve().parents[2]
RUN_NAME = "Demo"
QUESTION = "Does a small network learn Python and English from what lies on this machine?"
# Halfway between the loss of a unigram model on this corpus (about 6.7) and what the demo ends at.
WANTED_LOSS = 4.5


def main() -> int:
    """Make the demo run in the service of this home, launch it once, and say where it is.

    Returns:
        Exit code: 0, or 2 when the service does not run or the run was refused.
    """
    import django
    from django.core.exceptions import ImproperlyConfigured
    from django.db import OperationalError

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "controlplane.settings")
    os.environ.setdefault("SAFEHOLD_HOME", str(env.path("SAFEHOLD_HOME", ROOT / ".safehold")))
    try:
        django.setup()
        run = ensure()
    except (OperationalError, ImproperlyConfigured):
        complain(SafeholdError("The service does not run here.", hint="Start it: safehold up"))
        return 2
    except env.BadSetting as error:
        complain(SafeholdError(str(error)))
        return 2
    except SafeholdError as error:
        complain(error)
        return 2
    say(f"Run {run.pk} ({run.name}) is launched.")
    tell(run=run.pk, name=run.name)
    return 0


def ensure() -> "Run":
    """Return the one demo run, made and launched when there is none."""
    from django.conf import settings

    from controlplane.common.models import User
    from runs.services import preflight
    from safehold.reference import corpus

    operator = User.objects.get(username="operator")
    prepared = corpus.prepare(settings.SAFEHOLD_HOME / "demo" / "corpus")
    run = existing() or make(operator, prepared)
    if not run.attempts.exists():
        preflight.launch(run=run, user=operator)
    return run


def existing() -> "Run | None":
    """Return the demo run of this service, where it was made before."""
    from runs.models import Run

    return Run.objects.filter(name=RUN_NAME, project__slug="main").order_by("pk").first()


def make(user: "User", prepared: "Prepared") -> "Run":
    """Write the card and the config of the demo, and plan its run."""
    from django.conf import settings
    from django.db import transaction

    from controlplane.common.models import Project
    from runs.services import cards, configs, runs
    from safehold.reference.config import demo_config

    project = Project.objects.get(slug="main")
    document = demo_config(prepared, root=settings.SAFEHOLD_CHECKPOINT_ROOT)
    with transaction.atomic():
        card = cards.create_card(
            user=user, project=project, name="Demo", question=QUESTION,
            data=card_fields(document, prepared),
        )  # fmt: skip
        config = configs.create_config(user=user, project=project, document=document, card=card)
        return runs.create_run(user=user, project=project, config=config, card=card, name=RUN_NAME)


def card_fields(document: dict[str, Any], prepared: "Prepared") -> dict[str, Any]:
    """Return the card's fields, drawn from the config so that both say the same."""
    network, train, compute = (document[name] for name in ("network", "train", "compute"))
    domains = prepared.num_tokens["train"]
    return {
        "task_form": "open_generation",
        "objective": "Predict the next token of source code and prose.",
        "network": network,
        "data": {
            "tokens": train["steps"] * train["global_batch"] * network["sequence_length"],
            "unique_tokens": sum(domains.values()),
            "domains": domains,
            "version": prepared.data_version,
        },
        "compute": {
            "accelerator": "CPU core or GPU of this machine",
            "devices": compute["devices"],
            "peak_tflops_per_device": compute["peak_tflops_per_device"],
            "mfu": 0.4,
            "memory_gb_per_device": 2.0,
            "budget_device_days": 0.1,
            "cluster": compute["launcher"],
        },
        "plan": {
            "precision": train["precision"],
            "micro_batch": train["global_batch"] // (compute["devices"] * train["accumulation"]),
            "accumulation": train["accumulation"],
            "checkpoint_root": document["checkpoint"]["root"],
        },
        "acceptance": [
            {
                "metric": "loss",
                "split": "val",
                "comparator": "<=",
                "threshold": WANTED_LOSS,
            }
        ],
    }


if __name__ == "__main__":
    sys.exit(main())
