"""The names of the files in a checkpoint; no torch here, the checks read them too."""

from __future__ import annotations

MODEL_FILE = "model.safetensors"
MOMENTS_FILE = "optimizer.safetensors"
OPTIMIZER_FILE = "optimizer.json"
SCHEDULER_FILE = "scheduler.json"
SCALER_FILE = "scaler.json"


def rank_file(component: str, rank: int) -> str:
    """Return the name of a file that every rank has its own of."""
    return f"{component}-{rank:05d}.json"


def component_of(path: str) -> str:
    """Return the component that a file of ours belongs to."""
    return path.split(".")[0].split("-")[0]
