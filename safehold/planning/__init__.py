"""Planning sums: pure functions of numbers, of a card, of a run config."""

from safehold.planning.card import (
    Acceptance,
    CardFields,
    missing_agreements,
    parse_card,
    read_card,
    read_kept,
)
from safehold.planning.card_sums import compute_of, memory_of, parameters_of
from safehold.planning.compute import ComputeEstimate, estimate, training_flops
from safehold.planning.memory import MemoryLedger, MemoryPlan, checkpoint_bytes, ledger
from safehold.planning.network import (
    Shape,
    active_parameter_count,
    judge_start,
    parameter_count,
    starting_loss,
)
from safehold.planning.run import RunPlan, plan_run

__all__ = [
    "Acceptance",
    "CardFields",
    "ComputeEstimate",
    "MemoryLedger",
    "MemoryPlan",
    "RunPlan",
    "Shape",
    "active_parameter_count",
    "checkpoint_bytes",
    "compute_of",
    "estimate",
    "judge_start",
    "ledger",
    "memory_of",
    "missing_agreements",
    "parameter_count",
    "parameters_of",
    "parse_card",
    "plan_run",
    "read_card",
    "read_kept",
    "starting_loss",
    "training_flops",
]
