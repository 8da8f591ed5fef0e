"""Cards that may start, and values that runs logged."""

from typing import Any
from uuid import uuid4

import numpy as np

from controlplane.common.models import Project, User
from runs.models import Attempt, Card
from runs.services import cards
from runs.services.ingest import store_batch
from safehold import wire
from tests.runs.ingest.posting import make_batch

AGREED: dict[str, Any] = {
    "task_form": "open_generation",
    "network": {"layers": 8, "hidden": 512, "heads": 8, "vocabulary": 1000, "sequence_length": 64},
    "data": {"tokens": 512 * 64 * 20_000, "domains": {"web": 400_000_000, "code": 255_360_000}},
    "compute": {"devices": 8, "peak_tflops_per_device": 100.0, "memory_gb_per_device": 80.0},
    "acceptance": [
        {"metric": "loss", "split": "val", "comparator": "<=", "threshold": 2.0},
        {"metric": "mmlu", "split": "test", "comparator": ">=", "threshold": 0.3},
    ],
}


def make_card(user: User, project: Project, **changes: Any) -> Card:
    """Return a card whose agreements are filled in; changes are those of its fields."""
    stage = changes.pop("stage", "pretrain")
    name = changes.pop("name", "Small GPT")
    return cards.create_card(
        user=user, project=project, name=name, stage=stage, data=AGREED | changes
    )


def log(attempt: Attempt, **series: dict[int, float]) -> None:
    """Store values by step; `val__loss={100: 2.0}` is the metric val/loss."""
    for name, values in series.items():
        steps = np.array(sorted(values), dtype=np.int64)
        logged = np.array([values[int(step)] for step in steps])
        batch = make_batch(
            steps.size, steps=steps, tokens=steps * 100, times=1_764_000_000_000 + steps, journal=uuid4().hex,
            columns=(wire.Column(name.replace("__", "/"), None, logged),),
        )  # fmt: skip
        store_batch(attempt=attempt, batch=batch)
