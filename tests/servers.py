"""One PostgreSQL for a whole test session, kept by a small process that ends with the session.

Whoever needs it first starts the keeper under a file lock, so it serves xdist workers alike, and no
kill of pytest leaves a server behind.
"""

import fcntl
import os
import shutil
import subprocess
import sys
from pathlib import Path

import psutil

from controlplane.service.postgres import Postgres, answers
from tests import environment
from tests.waiting import wait_until

# Tests may lose data in a power cut; syncing would cost them a third of their time.
SETTINGS = {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off"}
SETTINGS |= {"max_connections": "200"}
_keepers: list[subprocess.Popen[bytes]] = []


def ensure_postgres() -> None:
    """Start the session's PostgreSQL unless it runs already."""
    server = Postgres(environment.HOME)
    with (environment.HOME / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if answers(server.url()):
            return
        command = [sys.executable, "-m", "tests.servers", str(environment.HOME)]
        keeper = subprocess.Popen(
            [*command, os.environ["SAFEHOLD_TEST_OWNER"]], start_new_session=True
        )
        _keepers.append(keeper)
        wait_until(
            lambda: answers(server.url()) or keeper.poll() is not None,
            60,
            "the tests' PostgreSQL never answered",
        )
        assert keeper.poll() is None, "the tests' PostgreSQL did not start; see above"


def keep(home: Path, owner: int) -> None:
    """Run PostgreSQL until the process `owner` is gone, then remove the home."""
    server = Postgres(home, settings=SETTINGS)
    server.start()
    try:
        psutil.Process(owner).wait()
    except psutil.NoSuchProcess:
        pass
    server.stop()
    shutil.rmtree(home, ignore_errors=True)


if __name__ == "__main__":
    keep(Path(sys.argv[1]), int(sys.argv[2]))
