"""A small Kubernetes cluster for tests: an HTTP API server, the controllers that matter, and nodes.

It answers as `docs/reference/kubernetes-api.md` says a real server does; recordings of a real one hold it to that.
"""

from tests.fakes.kube.cluster import FakeCluster

__all__ = ["FakeCluster"]
