"""How long the server takes for a chart: a long series thinned to 1,000 points, as JSON bytes.

    python -m bench.chart [--runs 1]

Several stores: 100,000 steps of 10 metrics; 200,000 steps; 100,000 steps of 1,000 metrics a batch (written as
chunks directly, with a tail of such batches); each with a tail of batches not yet compacted. Prints JSON.
"""

import argparse
import json
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from bench import service
from safehold import wire

JOURNAL = "1" * 32
STEPS_A_BATCH = 100


def fill(steps: int, names: int, charted: int, tail_batches: int) -> Any:
    """Store a run of `steps`; of the names beyond `charted` only the tail, which is what a chart must skip."""
    from runs.metricstore.compaction import compact_attempt
    from runs.services.ingest import store_batch
    from tests.factories import make_attempt

    attempt = make_attempt(state="running")
    random, seq = np.random.default_rng(0), 1
    for first in range(1, steps + 1, 10_000):
        num = min(10_000, steps + 1 - first)
        store_batch(attempt=attempt, batch=batch(random, first, num, charted, seq))
        seq += num
    compact_attempt(attempt.pk)
    for number in range(tail_batches):
        size = STEPS_A_BATCH if names <= 10 else 1
        first = steps + 1 + number * size
        store_batch(attempt=attempt, batch=batch(random, first, size, names, seq))
        seq += size
    return attempt.run


def batch(random: Any, first: int, num: int, names: int, seq: int) -> wire.Batch:
    """Return `num` steps of `names` metrics."""
    steps = np.arange(first, first + num, dtype=np.int64)
    values = np.float32(2 + random.normal(0, 0.1, (names, num))).astype(np.float64)
    return wire.Batch(
        rank=0, journal=JOURNAL, first_seq=seq, steps=steps, tokens=steps * 32768,
        times=1_764_000_000_000 + steps * 100 + random.integers(0, 9, num),
        columns=tuple(wire.Column(f"metric/{i}", None, values[i]) for i in range(names)),
    )  # fmt: skip


def timed(act: Callable[[], object], times: int = 200) -> dict[str, float]:
    """Return p50 and p95 of an act in milliseconds, and the processor time of one."""
    act()
    taken, begun = [], time.process_time()
    for _ in range(times):
        start = time.perf_counter()
        act()
        taken.append((time.perf_counter() - start) * 1000)
    cpu = (time.process_time() - begun) / times * 1000
    return {
        "p50_ms": round(float(np.percentile(taken, 50)), 2),
        "p95_ms": round(float(np.percentile(taken, 95)), 2),
        "cpu_ms": round(cpu, 2),
    }


def chart(run: Any, names: int = 1, **options: Any) -> Callable[[], object]:
    """Return the act that is measured."""
    import orjson

    from runs.services.metrics import read_chart

    wanted = [f"metric/{i}" for i in range(names)]
    return lambda: orjson.dumps(read_chart(run=run, names=wanted, points=1000, **options))


def main() -> None:
    """Run the benchmark and print its figures."""
    argparse.ArgumentParser(description=__doc__).parse_args()
    with service.database():
        figures = {}
        short = fill(100_000, 10, 10, 30)
        figures["100k, 10 metrics"] = timed(chart(short))
        figures["100k, 10 metrics, by step"] = timed(chart(short, x="step"))
        figures["100k, 10 metrics, zoom to 10 %"] = timed(
            chart(short, x="step", start=50_000, end=60_000)
        )
        figures["100k, six panels at once"] = timed(chart(short, names=6))
        figures["200k, 10 metrics"] = timed(chart(fill(200_000, 10, 10, 30)))
        figures["2M, 1 metric"] = timed(chart(fill(2_000_000, 1, 1, 30)))
        figures["100k, 1,000 metrics a batch"] = timed(chart(fill(100_000, 1000, 1, 60)))
    print(json.dumps(figures, indent=2))


if __name__ == "__main__":
    main()
