"""The environment of the tests, set before anything reads the settings; imported by conftest.py first.

The process that the user started makes one home; xdist workers inherit it and share its
PostgreSQL, each with a database and a Valkey of its own.
"""

import os
import tempfile
from pathlib import Path

from controlplane.service import places

HOME = Path(os.environ.get("SAFEHOLD_TEST_HOME") or tempfile.mkdtemp(prefix="safehold-test-"))
WORKER = os.environ.get("PYTEST_XDIST_WORKER", "main")
WORKER_HOME = HOME / WORKER


def prepare() -> None:
    """Point the settings at the servers of the tests; they start when a fixture asks."""
    os.environ["SAFEHOLD_TEST_HOME"] = str(HOME)
    os.environ.setdefault("SAFEHOLD_TEST_OWNER", str(os.getpid()))
    (WORKER_HOME / "static").mkdir(parents=True, exist_ok=True)
    os.environ |= {
        "DJANGO_SETTINGS_MODULE": "controlplane.settings",
        "SAFEHOLD_HOME": str(WORKER_HOME),
        "SAFEHOLD_SECRET_KEY": "only-for-tests-" * 5,
        # The test runner empties tables, the audit trail too, which the database else refuses.
        "DATABASE_URL": places.database_url(HOME) + "&options=-c%20safehold.allow_truncate%3Don",
        "REDIS_URL": places.redis_url(WORKER_HOME),
        "OMP_NUM_THREADS": "1",
    }
    for name in ("SAFEHOLD_URL", "SAFEHOLD_TOKEN", "SAFEHOLD_RUN_ID", "SAFEHOLD_PUBLIC_URL"):
        os.environ.pop(name, None)
