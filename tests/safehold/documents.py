"""Run configs for tests: a sound one, and changes of it by dotted path."""

from typing import Any

from safehold.config import RunConfig, parse


def make_document(**changes: Any) -> dict[str, Any]:
    """Return a sound document; `optimizer__lr=1` changes `optimizer.lr`, a value of ... leaves it out."""
    document: dict[str, Any] = {
        "name": "small",
        "network": {
            "layers": 2,
            "hidden": 64,
            "heads": 4,
            "vocabulary": 1000,
            "sequence_length": 64,
        },
        "data": {"path": "/data/corpus"},
        "tokenizer": {"path": "/data/corpus/tokenizer.json"},
        "train": {"steps": 20, "global_batch": 8},
        "optimizer": {"lr": 3e-4, "min_lr": 3e-5, "warmup_steps": 1},
        "checkpoint": {"root": "/checkpoints", "anchor_every_steps": 10},
    }
    for name, value in changes.items():
        *sections, field = name.split("__")
        table = document
        for section in sections:
            table = table.setdefault(section, {})
        if value is ...:
            del table[field]
        else:
            table[field] = value
    return document


def make_config(**changes: Any) -> RunConfig:
    """Return a sound config with changes."""
    return parse(make_document(**changes))
