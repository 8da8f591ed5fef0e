"""A trainer that needs no torch: logs, writes to its output, and ends as it is told."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import safehold


class Saver:
    def save(self, step: int, kind: str = "anchor") -> None:
        (Path(os.environ["SAFEHOLD_DIR"]) / f"saved-{os.environ['RANK']}").write_text(str(step))

    def flush(self) -> None:
        pass


def main(how: str) -> None:
    if how == "quick":
        return
    if how == "stubborn":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    run = safehold.init()
    if how == "stubborn":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    run._checkpointer = Saver()  # type: ignore[assignment]
    if how == "orphan":
        left = subprocess.Popen(["sleep", "600"])
        (run.folder / "orphan").write_text(str(left.pid))
    sys.stdout.write(f"rank {run.rank} of {run.environment.world_size} begins\n")
    for step, _ in run.steps(range(1, 100_000)):
        run.log(step, {"loss": float(step)})
        if step == 20:
            (run.folder / f"ready-{run.rank}").write_text(str(os.getpid()))
            end(how, run)
        if how in ("finish", "orphan") and step == 50:
            break
        time.sleep(0.005)
    run.finish()


def end(how: str, run: safehold.Run) -> None:
    if how == "raise" and run.rank == run.environment.world_size - 1:
        raise ValueError("the loss went away")
    if how == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    if how == "exit-7":
        os._exit(7)


if __name__ == "__main__":
    main(sys.argv[1])
