from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fakes.ingest_server import IngestServer, ingest_server


@pytest.fixture
def server() -> Iterator[IngestServer]:
    with ingest_server() as running:
        yield running


@pytest.fixture
def environ(server: IngestServer, tmp_path: Path) -> dict[str, str]:
    """The environment of an attempt whose server is `server`."""
    return {
        "SAFEHOLD_URL": server.url,
        "SAFEHOLD_TOKEN": server.token,
        "SAFEHOLD_DIR": str(tmp_path / "attempt"),
        "SAFEHOLD_FLUSH_SECONDS": "0.02",
    }
