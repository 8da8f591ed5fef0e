"""The config of the demo: a network that two processor cores can teach something within minutes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from safehold.reference.corpus import Prepared


def demo_config(
    prepared: Prepared, *, root: Path, steps: int = 2000, devices: int = 2
) -> dict[str, Any]:
    """Return the canonical config of the demo run.

    Args:
        prepared: The demo's data.
        root: Where checkpoints go.
        steps: Optimizer updates.
        devices: Processes.
    """
    return {
        "schema_version": 1,
        "name": "demo-gpt",
        "kind": "experiment",
        "stage": "pretrain",
        "network": {
            "architecture": "dense",
            "layers": 4,
            "hidden": 128,
            "heads": 4,
            "ffn_multiple": 4.0,
            "vocabulary": prepared.vocabulary,
            "sequence_length": 128,
            "tied": True,
        },
        "data": {
            "path": str(prepared.directory),
            "validation_path": "",
            "version": prepared.data_version,
            "mix": {},
        },
        "tokenizer": {"path": str(prepared.tokenizer), "digest": prepared.tokenizer_digest},
        "train": {
            "steps": steps,
            "global_batch": 16,
            "accumulation": 1,
            "seed": 1234,
            "precision": "fp32",
            "eval_every": min(50, steps),
        },
        "optimizer": {
            "name": "adamw",
            "lr": 3e-3,
            "min_lr": 3e-4,
            "warmup_steps": min(50, steps // 10),
            "schedule": "cosine",
            "betas": [0.9, 0.95],
            "eps": 1e-8,
            "weight_decay": 0.1,
            "clip": 1.0,
        },
        "checkpoint": {
            "root": str(root),
            "anchor_every_steps": min(200, steps),
            "snapshot_every_steps": min(50, steps),
            "keep_anchors": 3,
        },
        "log": {"every": 1},
        "compute": {
            "launcher": "local",
            "devices": devices,
            "nodes": 1,
            # A guess for one core of a common server (AVX2, 2 × 8 FMA at about 3 GHz), for MFU.
            "peak_tflops_per_device": 0.1,
        },
        "code": {"command": ["-m", "safehold.reference.train"]},
    }
