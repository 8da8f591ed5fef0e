"""A training of nothing, fast and honest: it writes down every step that it reports, before and after.

`SAFEHOLD_CONFIG` gives `train.steps` and `trainer.step_seconds`; `truth.jsonl` in the attempt's folder is
what the stored metrics are held against.
"""

import itertools
import json
import math
import time
from collections.abc import Iterator

import safehold
from safehold.run import Run


def value_at(step: int) -> float:
    """Return a loss that is another number at every step, and sometimes none."""
    return math.nan if step % 97 == 0 else 4.0 * math.exp(-step / 500) + math.sin(step) / 10


def batches(seconds: float) -> Iterator[int]:
    """Give a batch after each step's time."""
    for number in itertools.count():
        time.sleep(seconds)
        yield number


def train(run: Run) -> None:
    """Report step by step until the last one, or until asked to stop."""
    options = run.config.get("trainer", {})
    with (run.folder / f"truth-{run.rank}.jsonl").open("a", buffering=1) as truth:
        for step, _ in run.steps(
            batches(options.get("step_seconds", 0.02)), start=0, stop=run.config["train"]["steps"]
        ):
            truth.write(json.dumps({"begun": step}) + "\n")
            run.log(step, {"train/loss": value_at(step), "lr": 1e-3}, tokens=step * 10)
            truth.write(json.dumps({"done": step}) + "\n")


if __name__ == "__main__":
    opened = safehold.init()
    train(opened)
    opened.finish()
