"""The commands of the processes that make up the service."""

import os
import sys
from collections.abc import Sequence
from pathlib import Path


def web(port: int, host: str = "127.0.0.1") -> list[str]:
    """Return the command of the web server: HTTP and WebSocket."""
    return [sys.executable, "-m", "controlplane.service.web", host, str(port)]


# Read in turn, so that neither waits for the whole of the other.
LONG_QUEUES = ("verify", "preflight")
QUEUES = ("celery",)


def worker(concurrency: int, queues: Sequence[str] = QUEUES) -> list[str]:
    """Return the command of the worker that launches, observes and sweeps."""
    return _worker("main", concurrency, queues)


def verifier(concurrency: int) -> list[str]:
    """Return the command of the worker for what reads for long: checkpoints to verify, data to check."""
    return _worker("verifier", concurrency, LONG_QUEUES)


def _worker(name: str, concurrency: int, queues: Sequence[str]) -> list[str]:
    quiet = ["--without-gossip", "--without-mingle", "--loglevel", "INFO"]
    return [
        *(*_celery(), "worker", "--hostname", f"{name}@%h", "--queues", ",".join(queues)),
        *("--concurrency", str(concurrency), *quiet),
    ]


def beat(schedule: Path) -> list[str]:
    """Return the command of the clock that sends the periodic tasks."""
    return [*_celery(), "beat", "--schedule", str(schedule), "--pidfile", "", "--loglevel", "INFO"]


def watcher() -> list[str]:
    """Return the command of the process that follows the clusters."""
    return [sys.executable, "-m", "django", "watch_clusters"]


def demo() -> list[str]:
    """Return the command that makes and launches the demo run."""
    return [sys.executable, "-m", "controlplane.service.demo_run"]


def web_environment(environment: dict[str, str]) -> dict[str, str]:
    """Return the environment of the web process: it alone holds a pool of connections."""
    return environment | {"SAFEHOLD_DB_POOL": "1"}


def default_concurrency() -> int:
    """Return how many tasks run at once: they wait more than they reckon."""
    return max(2, min(8, os.cpu_count() or 2))


def long_concurrency() -> int:
    """Return how many long readings run at once: half the cores are left to training."""
    return max(1, min(4, (os.cpu_count() or 2) // 2))


def _celery() -> list[str]:
    command = [sys.executable, "-m", "controlplane.service.tasks"]
    return [*command, "--app", "controlplane", "--quiet"]
