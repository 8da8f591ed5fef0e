"""What a save costs the training: a synchronous anchor, and the stall of a snapshot.

    python -m bench.checkpoint_save [--gib 0.5] [--rounds 5]

Prints JSON: median seconds, GB/s, and the snapshot's stall as a share of the anchor.
"""

import argparse
import json
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import torch
from torch import nn

from safehold.checkpointing.checkpointer import Checkpointer
from safehold.checkpointing.places import Places

CONFIG: dict[str, Any] = {"checkpoint": {"root": "unused"}, "network": {"layers": 1}}


@dataclass
class Host:
    """Stands for a run; hears of checkpoints and forgets."""

    config: dict[str, Any]
    tokens: int = 0

    def register_checkpoint(self, **_: Any) -> None:
        """Take nothing down."""


def make_training(root: Path, gib: float) -> tuple[Checkpointer, Places]:
    """Return a checkpointer over weights and moments of so many GiB together."""
    width = 4096
    layers = max(1, round(gib * 2**30 / (3 * 4 * width * width)))
    network = nn.Sequential(*(nn.Linear(width, width, bias=False) for _ in range(layers)))
    optimizer = torch.optim.AdamW(network.parameters())
    for parameter in network.parameters():
        optimizer.state[parameter] = {
            "step": torch.tensor(1.0),
            "exp_avg": torch.randn_like(parameter),
            "exp_avg_sq": torch.rand_like(parameter),
        }
    places = Places(root, "bench", "1")
    return Checkpointer(Host(CONFIG), model=network, optimizer=optimizer, places=places), places


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--gib", type=float, default=0.5)
    arguments.add_argument("--rounds", type=int, default=5)
    options = arguments.parse_args()
    anchors, stalls, sizes = [], [], []
    with tempfile.TemporaryDirectory(dir=Path.cwd()) as root:
        checkpointer, places = make_training(Path(root), options.gib)
        for number in range(options.rounds + 1):
            began = time.perf_counter()
            manifest = checkpointer.save(2 * number, kind="anchor")
            anchors.append(time.perf_counter() - began)
            began = time.perf_counter()
            checkpointer.save(2 * number + 1, kind="snapshot")
            stalls.append(time.perf_counter() - began)
            checkpointer.flush()
            assert manifest is not None
            sizes.append(manifest.size_bytes)
    anchor, stall = median(anchors[1:]), median(stalls[1:])  # the first fills the buffers
    print(
        json.dumps(
            {
                "bytes": sizes[0],
                "anchor_seconds": round(anchor, 3),
                "anchor_gb_per_second": round(sizes[0] / anchor / 1e9, 2),
                "snapshot_stall_seconds": round(stall, 3),
                "stall_over_anchor": round(stall / anchor, 3),
                "first_snapshot_stall_seconds": round(stalls[0], 3),
            }
        )
    )


if __name__ == "__main__":
    main()
