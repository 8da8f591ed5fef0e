"""A database, a broker and the web server for a benchmark, in a directory of their own."""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import psutil

ROOT = Path(__file__).parent.parent


@contextmanager
def database() -> Iterator[Path]:
    """Run a fresh PostgreSQL with its real durability and a Valkey; set Django up on them."""
    with tempfile.TemporaryDirectory(prefix="safehold-bench-", ignore_cleanup_errors=True) as name:
        home = Path(name)
        home.chmod(0o755)
        os.environ |= {
            "SAFEHOLD_HOME": name,
            "SAFEHOLD_SECRET_KEY": "only-for-benchmarks-" * 4,
            "DJANGO_SETTINGS_MODULE": "controlplane.settings",
            "OMP_NUM_THREADS": "1",
            "SAFEHOLD_LOG_LEVEL": "WARNING",
        }
        for key in ("DATABASE_URL", "REDIS_URL"):
            os.environ.pop(key, None)
        from controlplane.service.postgres import Postgres
        from controlplane.service.valkey import Valkey

        servers = Postgres(home), Valkey(home)
        for server in servers:
            server.start()
        try:
            import django
            from django.core.management import call_command

            django.setup()
            call_command("migrate", verbosity=0)
            yield home
        finally:
            for server in reversed(servers):
                server.stop()


@contextmanager
def web(port: int) -> Iterator[psutil.Process]:
    """Run the web server as `safehold up` does and yield its process."""
    url = f"http://127.0.0.1:{port}"
    given = os.environ | {"SAFEHOLD_DB_POOL": "1", "SAFEHOLD_PUBLIC_URL": url}
    child = subprocess.Popen(
        [sys.executable, "-m", "controlplane.service.web", "127.0.0.1", str(port)],
        cwd=ROOT,
        env=given,
    )
    try:
        _wait(url)
        yield psutil.Process(child.pid)
    finally:
        child.terminate()
        child.wait(20)


def cpu_seconds(process: psutil.Process) -> float:
    """Return the processor time that a process and its children have used."""
    own = [process, *process.children(recursive=True)]
    return sum(sum(each.cpu_times()[:2]) for each in own)


def postgres_process() -> psutil.Process:
    """Return the database server of this benchmark."""
    return next(p for p in psutil.Process().children() if "postgres" in p.name())


def _wait(url: str) -> None:
    for _ in range(300):
        try:
            httpx.get(f"{url}/healthz").raise_for_status()
            return
        except httpx.HTTPError:
            time.sleep(0.1)
    raise RuntimeError(f"The web server at {url} did not answer.")
