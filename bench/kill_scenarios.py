"""How long until a page tells the truth after a kill: of the trainer, its wrapper, and the worker.

    python -m bench.kill_scenarios [--rounds 10] [--sweep-seconds 5]

Runs a whole service (web, worker, clock) with the small trainer of the end-to-end tests. *trainer* and *wrapper* count from
the SIGKILL to the shown end; *worker* from the start of the next worker to the end of a trainer that died
meanwhile. The target for each: p99 within 30 s. Prints JSON lines.
"""

import argparse
import json
import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from tests import environment

environment.prepare()

import django  # noqa: E402
import numpy as np  # noqa: E402

django.setup()

from controlplane.service.valkey import Valkey  # noqa: E402
from tests import live_service, servers  # noqa: E402
from tests.e2e.training import Training, launched  # noqa: E402

LIMIT_SECONDS = 120


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--sweep-seconds", type=int, default=5)
    options = parser.parse_args()
    os.environ["SAFEHOLD_SWEEP_SECONDS"] = str(options.sweep_seconds)
    with service(options.sweep_seconds) as live:
        for name, scenario in SCENARIOS.items():
            seconds = [scenario(live) for _ in range(options.rounds)]
            print(json.dumps(summary(name, seconds, options.sweep_seconds)), flush=True)


@contextmanager
def service(sweep_seconds: int) -> Iterator[live_service.LiveService]:
    """Run a whole service with the sweep's period."""
    servers.ensure_postgres()
    valkey = Valkey(environment.WORKER_HOME)
    valkey.start()
    try:
        with live_service.running(live_service.make_template(), valkey) as live:
            live.env["SAFEHOLD_SWEEP_SECONDS"] = str(sweep_seconds)
            live.kill("beat")
            live.start_process("beat")
            yield live
    finally:
        valkey.stop()


def kill_trainer(live: live_service.LiveService) -> float:
    """Kill the training process itself."""
    training = launched(live)
    training.kill_trainer()
    return until_shown(training, "failed")


def kill_wrapper(live: live_service.LiveService) -> float:
    """Kill the process wrapper, so that no exit record is left and nobody reports."""
    training = launched(live)
    os.kill(training.attempt.handle["pid"], signal.SIGKILL)
    return until_shown(training, "lost")


def kill_worker(live: live_service.LiveService) -> float:
    """Kill the worker, then the trainer; count from the next worker's start."""
    training = launched(live)
    live.kill("worker")
    training.kill_trainer()
    live.start_process("worker")
    return until_shown(training, "failed")


def until_shown(training: Training, word: str) -> float:
    """Return the seconds until the run is shown so."""
    began = time.perf_counter()
    while training.shown.word != word:
        if time.perf_counter() - began > LIMIT_SECONDS:
            raise TimeoutError(training.report())
        time.sleep(0.02)
    return time.perf_counter() - began


def summary(name: str, seconds: list[float], sweep_seconds: int) -> dict[str, object]:
    """Return the figures of one scenario."""
    p50, p99 = np.percentile(seconds, [50, 99])
    return {
        "killed": name, "rounds": len(seconds), "sweep_seconds": sweep_seconds,
        "p50_seconds": round(float(p50), 2), "p99_seconds": round(float(p99), 2),
    }  # fmt: skip


SCENARIOS: dict[str, Callable[[live_service.LiveService], float]] = {
    "trainer": kill_trainer,
    "wrapper": kill_wrapper,
    "worker": kill_worker,
}

if __name__ == "__main__":
    main()
