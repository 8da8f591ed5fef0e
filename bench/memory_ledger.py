"""Memory ledger against measured peaks: the reference trainer at four sizes and four settings, on the CPU.

Every tensor of torch on the CPU comes from one allocator, and the profiler is told of each allocation and each release
with its bytes, scratch space within operators included. Their running sum from before the network is made is the
memory that the training holds; its highest value is the peak. The resident size of the process would not do: it
counts the interpreter, libraries and freed pages that the C library keeps.

    python -m bench.memory_ledger [--json]
"""

from __future__ import annotations

import gc
import json
import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch.profiler import ProfilerActivity, profile

import safehold
from safehold.config import parse
from safehold.planning import MemoryLedger, plan_run
from safehold.reference.config import demo_config
from safehold.reference.corpus import Prepared, prepare
from safehold.reference.processes import Processes
from safehold.reference.sources import Text
from safehold.reference.train import Trainer

SIZES: dict[str, dict[str, int]] = {
    "small": {"layers": 2, "hidden": 128, "heads": 2},
    "medium": {"layers": 4, "hidden": 256, "heads": 4},
    "large": {"layers": 8, "hidden": 512, "heads": 8},
    # Few tokens: what is kept for the whole training makes the peak, not the activations.
    "large, short": {"layers": 8, "hidden": 512, "heads": 8, "sequence_length": 32},
}
# The first two hold gradients between micro-batches, the last two do not.
SETTINGS: dict[str, dict[str, Any]] = {
    "fp32, accumulated": {"precision": "fp32", "accumulation": 2},
    "bf16 autocast, accumulated": {"precision": "bf16", "accumulation": 2},
    "fp32": {"precision": "fp32", "accumulation": 1},
    "bf16 autocast": {"precision": "bf16", "accumulation": 1},
}
STEPS = 3
MICRO_BATCHES = {"large, short": 1}
MICRO_BATCH = 8  # of every other size


@dataclass(frozen=True)
class Compared:
    """One training: what the ledger says and what was measured."""

    size: str
    setting: str
    parameters: int
    ledger: MemoryLedger
    measured_bytes: int

    @property
    def error(self) -> float:
        """How far the ledger's peak is off, as a share of what was measured."""
        return self.ledger.peak_bytes / self.measured_bytes - 1


def compare(prepared: Prepared, size: str, setting: str) -> Compared:
    """Train for a few steps and hold the ledger of the same config against the measured peak."""
    with tempfile.TemporaryDirectory() as folder:
        document = config_of(prepared, Path(folder), size, setting)
        plan = plan_run(parse(document))
        assert plan.memory is not None
        assert plan.parameters is not None
        peak = peak_bytes(document, Path(folder))
    return Compared(size, setting, plan.parameters, plan.memory, peak)


def config_of(prepared: Prepared, folder: Path, size: str, setting: str) -> dict[str, Any]:
    """Return the config of one training on one process."""
    document = demo_config(prepared, root=folder / "checkpoints", steps=STEPS, devices=1)
    document["network"] |= SIZES[size]
    accumulation = SETTINGS[setting]["accumulation"]
    batch = MICRO_BATCHES.get(size, MICRO_BATCH) * accumulation
    document["train"] |= SETTINGS[setting] | {"global_batch": batch, "eval_every": 0}
    document["checkpoint"] |= {"anchor_every_steps": STEPS, "snapshot_every_steps": 0}
    return document


def peak_bytes(document: dict[str, Any], folder: Path) -> int:
    """Return the most bytes that the tensors of a training take at once."""
    (folder / "config.json").write_text(json.dumps(document))
    environ = {
        "SAFEHOLD_CONFIG": str(folder / "config.json"), "SAFEHOLD_DIR": str(folder), "SAFEHOLD_RUN_ID": "1",
        "SAFEHOLD_ATTEMPT": "1", "SAFEHOLD_CHECKPOINT_ROOT": document["checkpoint"]["root"],
    }  # fmt: skip
    gc.collect()  # what a training before left behind must not be released into this one's sum
    with quiet(), profile(activities=[ProfilerActivity.CPU], profile_memory=True) as seen:
        run = safehold.init(environ)
        Trainer(run, Processes(0, 1, 0, torch.device("cpu"))).train()
        run.finish()
    return highest(seen)


def highest(seen: profile) -> int:
    """Return the highest running sum of what was allocated and released."""
    assert seen.profiler is not None
    results: Any = seen.profiler.kineto_results
    told = [event for event in results.events() if event.name() == "[memory]"]
    held = most = 0
    for event in sorted(told, key=lambda event: event.start_ns()):
        held += event.nbytes()
        assert held >= 0, "Something was released that was allocated before."
        most = max(most, held)
    return most


@contextmanager
def quiet() -> Iterator[None]:
    """Keep what the profiler's C++ half writes to standard error out of the figures."""
    kept, nothing = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, 2)
    try:
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nothing)


def corpus(folder: Path) -> Prepared:
    """Return a small corpus; what the texts say does not matter here."""
    from pydoc_data.topics import topics

    texts = [Text("reference", name, topics[name]) for name in sorted(topics)[:30]]
    return prepare(folder, source=texts)


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        prepared = corpus(Path(folder))
        found = [compare(prepared, size, setting) for size in SIZES for setting in SETTINGS]
    if "--json" in sys.argv:
        print(json.dumps([_facts(one) for one in found]))
        return
    for one in found:
        print("  ".join(f"{value:>26}" for value in _facts(one).values()))


def _facts(one: Compared) -> dict[str, str | int]:
    return {
        "size": one.size, "setting": one.setting, "parameters": one.parameters,
        "ledger_mb": f"{one.ledger.peak_bytes / 1e6:.1f}", "measured_mb": f"{one.measured_bytes / 1e6:.1f}",
        "error": f"{one.error:+.1%}",
    }  # fmt: skip


if __name__ == "__main__":
    main()
