"""A training of several ranks that depend on each other in every step, and save to small files."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import torch
import torch.distributed as dist

import safehold


class Saver:
    def save(self, step: int, kind: str = "anchor") -> None:
        dist.barrier()
        rank = dist.get_rank()
        with (Path(sys.argv[1]) / f"saved-{rank}").open("a") as file:
            file.write(f"{step}\n")

    def flush(self) -> None:
        pass


def main() -> None:
    run = safehold.init()
    dist.init_process_group("gloo")
    run._checkpointer = Saver()  # type: ignore[assignment]
    for step, _ in run.steps(range(100_000)):
        value = torch.ones(1)
        dist.all_reduce(value)
        time.sleep(0.002 * run.rank)
        run.log(step, {"sum": value})
        if step == 20:
            (Path(sys.argv[1]) / f"ready-{run.rank}").write_text(str(os.getpid()))
    run.finish()
    (Path(sys.argv[1]) / f"ended-{run.rank}").write_text(str(run.step))
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
