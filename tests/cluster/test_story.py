"""The stories on the cluster of KUBECONFIG; `pytest -m cluster`, see docs/how-to/test-on-a-cluster.md."""

import os
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import yaml

from tests.cluster.ground import Ground, real_ground
from tests.cluster.stories import ClusterStories
from tests.live_service import LiveService


def _hosts() -> list[str]:
    """Return the hosts that the tests may reach: this machine and the API servers."""
    text = os.environ.get("KUBECONFIG", "").split(":")[0]
    document = yaml.safe_load(Path(text).read_text()) if text and Path(text).exists() else {}
    servers = [entry["cluster"]["server"] for entry in document.get("clusters") or []]
    return ["127.0.0.1", "::1", *(str(urlsplit(server).hostname) for server in servers)]


pytestmark = [
    pytest.mark.cluster,
    pytest.mark.allow_hosts(_hosts()),
    pytest.mark.skipif(not os.environ.get("KUBECONFIG"), reason="KUBECONFIG names no cluster."),
]


@pytest.fixture(scope="module")
def ground(live_service_module: LiveService) -> Iterator[Ground]:
    with real_ground(live_service_module) as found:
        yield found


class TestRealCluster(ClusterStories):
    """See there."""
