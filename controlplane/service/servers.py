"""What the service consists of: PostgreSQL and Valkey where no others are named, and our processes."""

import os
import signal
from functools import partial
from pathlib import Path

from controlplane.service import children, commands
from controlplane.service.postgres import STOP_TIMEOUT_SECONDS, Postgres
from controlplane.service.processes import Child, Supervisor
from controlplane.service.valkey import Valkey


def start_stores(home: Path, supervisor: Supervisor) -> None:
    """Start the servers that the environment does not name, and name them there."""
    if not _is_given("DATABASE_URL"):
        postgres = Postgres(home)
        postgres.start()
        supervisor.add(
            Child("PostgreSQL", postgres.spawn, signal.SIGINT, STOP_TIMEOUT_SECONDS, postgres.child)
        )
        os.environ["DATABASE_URL"] = postgres.url()
    if not _is_given("REDIS_URL"):
        valkey = Valkey(home)
        valkey.start()
        supervisor.add(Child("Valkey", valkey.spawn, process=valkey.child))
        os.environ["REDIS_URL"] = valkey.url()


def start_processes(home: Path, host: str, port: int, supervisor: Supervisor) -> None:
    """Start the web server and the worker, each with a log file of its own."""
    env = dict(os.environ)
    logs = home / "logs"
    web = partial(children.start, commands.web(port, host), log=logs / "web.log")
    worker = commands.worker(commands.default_concurrency())
    supervisor.add(Child("web server", partial(web, env=commands.web_environment(env))))
    supervisor.add(
        Child("worker", partial(children.start, worker, log=logs / "worker.log", env=env))
    )


def late_children(home: Path) -> list[Child]:
    """Return what nobody waits for, and whose start would slow the others down: the clock and the verifier."""
    env, logs = dict(os.environ), home / "logs"
    beat = commands.beat(home / "beat-schedule")
    read = commands.verifier(commands.long_concurrency())
    return [
        Child("clock", partial(children.start, beat, log=logs / "clock.log", env=env)),
        Child("verifier", partial(children.start, read, log=logs / "verifier.log", env=env)),
    ]


def watcher_child(home: Path) -> Child:
    """Return the process that follows the clusters, so that their changes are seen at once."""
    watch = partial(children.start, commands.watcher(), log=home / "logs" / "watcher.log")
    return Child("watcher", partial(watch, env=dict(os.environ)))


def demo_child(home: Path) -> Child:
    """Return the process that makes and launches the demo run, once."""
    make = partial(children.start, commands.demo(), log=home / "logs" / "demo.log")
    return Child("demo run", partial(make, env=dict(os.environ)), is_once=True)


def _is_given(name: str) -> bool:
    return bool(os.environ.get(name) or os.environ.get(f"{name}_FILE"))
