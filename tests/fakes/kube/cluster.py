"""The fake cluster that tests hold: nodes, clock, server, controllers."""

import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import yaml

from tests.fakes.kube.controllers import GPU, Controllers
from tests.fakes.kube.nodes import ProcessRuntime, Runtime, ScriptedRuntime
from tests.fakes.kube.resources import BUILT_IN
from tests.fakes.kube.server import ApiServer, Fault, Request
from tests.fakes.kube.store import Store

Json = dict[str, Any]
_BY_PLURAL = {resource.plural: resource for resource in BUILT_IN}


class FakeCluster:
    """A cluster with one namespace `team` and as many nodes as asked for.

    Its controllers act in `tick()`, which moves its clock; `run()` lets them act by themselves in real time.
    """

    def __init__(
        self, *, nodes: int = 2, gpus: int = 8, custom_groups: frozenset[str] = frozenset(),
        runs_processes: bool = False, window: int = 1000,
    ) -> None:  # fmt: skip
        self.store = Store(window)
        self._now = time.time()
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self.runtime: Runtime = ProcessRuntime(self.find) if runs_processes else ScriptedRuntime()
        self.controllers = Controllers(self.store, self.runtime, self.clock)
        self.server = ApiServer(self.store, self._log, custom_groups)
        self.make_namespace("team")
        for number in range(nodes):
            self.make_node(f"gpu-node-{number}", gpus)

    def clock(self) -> float:
        return time.time() if self._thread else self._now

    def start(self) -> "FakeCluster":
        """Listen; returns itself."""
        self.server.start()
        return self

    def run(self, every_seconds: float = 0.05) -> None:
        """Let the controllers act in real time from now on."""
        self._thread = threading.Thread(target=self._loop, args=(every_seconds,), daemon=True)
        self._thread.start()

    def _loop(self, every_seconds: float) -> None:
        while not self._stop.wait(every_seconds):
            self.pass_once()

    def pass_once(self) -> None:
        """One pass of every controller, the clock as it is."""
        self.controllers.sync()
        self.controllers.collect()

    def tick(self, seconds: float = 1.0, passes: int = 3) -> None:
        """Move the clock and let the controllers act until what follows at once has followed."""
        self._now += seconds
        for _ in range(passes):
            self.pass_once()

    def stop(self) -> None:
        """End everything."""
        self._stop.set()
        if self._thread:
            self._thread.join()
        self.server.stop()
        if isinstance(self.runtime, ProcessRuntime):
            self.runtime.stop()

    def restart_server(self) -> None:
        """As after a restart of the API server: watches are cut, old versions are too old."""
        self.server.stop()
        self.store.forget_history()
        self.server.start()

    def make_namespace(self, name: str) -> None:
        self.store.create(_BY_PLURAL["namespaces"], "", {"metadata": {"name": name}}, dry_run=False)

    def make_node(self, name: str, gpus: int) -> None:
        labels = {"kubernetes.io/hostname": name, "nvidia.com/gpu.product": "NVIDIA-H100-80GB-HBM3"}
        node = {"metadata": {"name": name, "labels": labels}, "spec": {}}
        amounts = {GPU: str(gpus), "cpu": "64", "memory": "512Gi"}
        ready = {"type": "Ready", "status": "True", "reason": "KubeletReady"}
        node["status"] = {"capacity": amounts, "allocatable": amounts, "conditions": [ready]}
        self.store.create(_BY_PLURAL["nodes"], "", node, dry_run=False)

    def make_quota(self, gpus: int, namespace: str = "team") -> None:
        quota = {"metadata": {"name": "q"}, "spec": {"hard": {f"requests.{GPU}": str(gpus)}}}
        self.store.create(_BY_PLURAL["resourcequotas"], namespace, quota, dry_run=False)

    def list(self, plural: str, namespace: str = "team") -> list[Json]:
        """What the store holds."""
        return self.store.list(plural, namespace, lambda _: True)

    def find(self, plural: str, namespace: str, name: str) -> Json | None:
        """One object, or None."""
        found = [i for i in self.list(plural, namespace) if i["metadata"]["name"] == name]
        return found[0] if found else None

    def fail(
        self, matches: Callable[[Request], bool], times: int = 1, **how: Any
    ) -> Fault:  # fmt: skip
        """Script a fault for the next requests that match."""
        fault = Fault(matches, times, **how)
        self.server.faults.append(fault)
        return fault

    def kubeconfig(self, path: Path, namespace: str = "team") -> Path:
        """Write a kubeconfig for this cluster and return its path."""
        document = {
            "apiVersion": "v1", "kind": "Config", "current-context": "fake",
            "clusters": [{"name": "fake", "cluster": {"server": self.server.url}}],
            "contexts": [
                {"name": "fake", "context": {"cluster": "fake", "user": "u", "namespace": namespace}}
            ],
            "users": [{"name": "u", "user": {"token": "secret-token"}}],
        }  # fmt: skip
        path.write_text(yaml.safe_dump(document))
        return path

    def _log(self, namespace: str, name: str, container: str) -> bytes | None:
        pod = self.find("pods", namespace, name)
        return self.runtime.log(pod["metadata"]["uid"]) if pod else None
