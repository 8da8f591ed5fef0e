"""The whole service of the end-to-end tests: it starts, loses each process, and comes back."""

import httpx
import pytest

from tests.live_service import LiveService
from tests.waiting import wait_until


@pytest.mark.e2e
@pytest.mark.parametrize("process", ["web", "worker", "valkey"])
def test_service_is_ready_again_after_a_kill(live_service: LiveService, process: str):
    live_service.kill(process)
    if process == "valkey":
        wait_until(lambda: httpx.get(f"{live_service.url}/readyz").status_code == 503)
        live_service.valkey.start()
    else:
        live_service.start_process(process)
    live_service.wait_ready()
