"""The stories of tests/cluster on the fake cluster, whose pods are real processes of this machine."""

from collections.abc import Iterator

import pytest

from tests.cluster.ground import Ground, fake_ground
from tests.cluster.stories import ClusterStories
from tests.live_service import LiveService

pytestmark = [pytest.mark.e2e, pytest.mark.slow(115)]


@pytest.fixture(scope="module")
def ground(live_service_module: LiveService) -> Iterator[Ground]:
    with fake_ground(live_service_module) as found:
        yield found
        found.clean()
        assert found.pods() == []


class TestFakeCluster(ClusterStories):
    """See there."""
