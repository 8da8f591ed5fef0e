"""The config that every pair begins with: one as a team would write it for a small network on eight devices."""

from typing import Any

BASE: dict[str, Any] = {
    "name": "base",
    "stage": "pretrain",
    "network": {
        "layers": 12, "hidden": 768, "heads": 12, "vocabulary": 50304, "sequence_length": 1024,
    },
    "data": {
        "path": "/data/one", "validation_path": "/data/one-val", "version": "blake3:" + "1" * 64,
        "mix": {"web": 0.7, "code": 0.2, "books": 0.1},
    },
    "tokenizer": {"path": "/data/one/tokenizer.json", "digest": "blake3:" + "0" * 64},
    "train": {"steps": 20_000, "global_batch": 256, "seed": 1234, "eval_every": 500},
    "optimizer": {"lr": 3e-4, "min_lr": 3e-5, "warmup_steps": 1000},
    "checkpoint": {"root": "/checkpoints", "anchor_every_steps": 500},
    "compute": {"launcher": "kubernetes", "devices": 8},
    "kubernetes": {
        "image": "trainer@sha256:" + "a" * 64, "memory": "64Gi", "env": {"NCCL_DEBUG": "WARN"},
        "volumes": [{"mount_path": "/checkpoints", "claim": "checkpoints"}],
    },
}  # fmt: skip
