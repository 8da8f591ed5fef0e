"""Planning sums: pure functions of numbers, of a card, of a run config."""

from safehold.planning.card import (
    Acceptance,
    CardFields,
    compute_of,
    memory_of,
    missing_agreements,
    parameters_of,
    parse_card,
)
from safehold.planning.compute import ComputeEstimate, estimate, training_flops
from safehold.planning.memory import MemoryLedger, MemoryPlan, checkpoint_bytes, ledger
from safehold.planning.network import Shape, parameter_count, starting_loss
from safehold.planning.run import RunPlan, plan_run

__all__ = [
    "Acceptance",
    "CardFields",
    "ComputeEstimate",
    "MemoryLedger",
    "MemoryPlan",
    "RunPlan",
    "Shape",
    "checkpoint_bytes",
    "compute_of",
    "estimate",
    "ledger",
    "memory_of",
    "missing_agreements",
    "parameter_count",
    "parameters_of",
    "parse_card",
    "plan_run",
    "starting_loss",
    "training_flops",
]
