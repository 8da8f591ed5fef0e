"""What `run.log` costs a training step, with the sending thread at work against a real server.

    python -m bench.log_cost [--steps 600] [--metrics 20] [--step-ms 100]

A step is busy Python work of the given length, the worst case for the threads beside it: it holds the
interpreter all the time, and its caches are cold for the call. The processor time of the threads is
told too. The target: at most 0.2 % of a 100 ms step.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time

import safehold

SERVER = """
import sys
from tests.fakes.ingest_server import ingest_server
with ingest_server() as server:
    print(server.url, flush=True)
    sys.stdin.read()
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--metrics", type=int, default=20)
    parser.add_argument("--step-ms", type=float, default=100.0)
    options = parser.parse_args()
    server = subprocess.Popen(
        [sys.executable, "-c", SERVER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert server.stdout is not None
    assert server.stdin is not None
    url = server.stdout.readline().strip()
    with tempfile.TemporaryDirectory() as folder:
        environ = {"SAFEHOLD_URL": url, "SAFEHOLD_TOKEN": "token", "SAFEHOLD_DIR": folder}
        report(measure(safehold.init(environ), options), options)
    server.stdin.close()
    server.wait()


def measure(run: safehold.Run, options: argparse.Namespace) -> list[float]:
    """Return the seconds of each log call."""
    values = {f"layer/{i}/norm": float(i) for i in range(options.metrics)}
    calls, cpu = [], 0.0
    busy = time.process_time() - time.thread_time()
    for step, _ in run.steps(range(options.steps)):
        work(options.step_ms / 1000)
        began, cpu_began = time.perf_counter(), time.thread_time()
        run.log(step, values, tokens=step * 4096)
        calls.append(time.perf_counter() - began)
        cpu += time.thread_time() - cpu_began
    busy = time.process_time() - time.thread_time() - busy
    print(f"threads beside it: {busy / len(calls) * 1e3:.2f} ms of processor time a step")
    print(f"log(): {cpu / len(calls) * 1e6:.0f} us of processor time a call")
    run.finish()
    return calls


def work(seconds: float) -> None:
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        sum(range(1000))


def report(calls: list[float], options: argparse.Namespace) -> None:
    ordered = sorted(calls)
    mean = statistics.mean(calls)
    print(f"{options.metrics} metrics, {len(calls)} calls, {os.cpu_count()} cores")
    print(
        f"log(): mean {mean * 1e6:.0f} us, p50 {ordered[len(ordered) // 2] * 1e6:.0f} us,"
        f" p99 {ordered[int(len(ordered) * 0.99)] * 1e6:.0f} us"
    )
    share = mean / (options.step_ms / 1000)
    print(f"share of a {options.step_ms:g} ms step: {share:.4%} (target 0.2 %)")


if __name__ == "__main__":
    main()
