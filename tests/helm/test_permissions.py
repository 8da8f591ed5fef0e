"""The chart's role allows what the Kubernetes launchers and the watcher do, and nothing else."""

import pytest
import yaml

from tests.fakes.kube import FakeCluster
from tests.helm.conftest import VALUE_SETS, rendered
from tests.workers.kube.test_objects import spec
from workers.kube import recent
from workers.kube.api import Kube
from workers.kube.connecting import Credentials
from workers.kube.forms import FORMS
from workers.kube.kinds import POD
from workers.kube.objects import Place
from workers.kube.survey import survey
from workers.launchers.kubernetes import KubernetesLauncher

GROUPS = frozenset({"jobset.x-k8s.io", "kueue.x-k8s.io", "trainer.kubeflow.org"})
VERBS = {"POST": "create", "PUT": "update", "PATCH": "patch", "DELETE": "delete"}


def used(request):
    """(group, resource, verb) as RBAC counts it, or None for discovery."""
    if request.resource is None:
        return None
    plural = request.resource.plural + (f"/{request.subresource}" if request.subresource else "")
    verb = VERBS.get(request.method)
    if verb is None:
        verb = "watch" if request.query.get("watch") else "get" if request.name else "list"
    return request.resource.group, plural, verb


def allowed(rules):
    return {
        (group, resource, verb)
        for rule in rules
        for group in rule["apiGroups"]
        for resource in rule["resources"]
        for verb in rule["verbs"]
    }


@pytest.fixture
def requests_of_a_life(tmp_path, monkeypatch):
    """Every kind of request: start, look, log, stop, kill, fence, clean, for each form, and the watch."""
    monkeypatch.setattr(recent, "SNAPSHOT_SECONDS", 0.0)
    cluster = FakeCluster(custom_groups=GROUPS).start()
    path = cluster.kubeconfig(tmp_path / "kubeconfig")
    kube = Kube(Credentials(kubeconfig=yaml.safe_load(path.read_text())))
    launcher = KubernetesLauncher(kube, Place(namespace="team", owner="us", image="x"))
    for form in sorted(FORMS):
        name = f"safehold-r1-{form}"
        section = {"workload": form, "runtime": "torch-distributed"}
        section |= {"queue": "research"} if form == "job" else {}
        launcher.start(spec(name=name, config={"kubernetes": section}))
        launcher.observe(name, {})
        launcher.start(spec(name=name, config={"kubernetes": section}))
        launcher.stop(name, {}, grace_seconds=1)
        launcher.fence(f"safehold-f-{form}")
    launcher.start(spec(name="safehold-r2"))
    cluster.tick()
    pod = kube.list(POD, "team").items[0]["metadata"]["name"]
    kube.log("team", pod, "trainer")
    launcher.observe("safehold-r2", {})
    launcher.kill("safehold-r2", {})
    launcher.clean("safehold-r2")
    launcher.start(spec(name="safehold-r3", devices=64, nodes=1))
    cluster.tick()
    launcher.observe("safehold-r3", {})
    for kind in [POD, *(form.kind for form in FORMS.values())]:
        version = kube.list(kind, "team").version
        list(kube.watch(kind, "team", selector="", version=version, seconds=1))
    survey(kube, "team")
    yield {found for request in cluster.server.requests if (found := used(request))}
    cluster.stop()


def test_the_role_allows_exactly_the_verbs_that_are_used(chart, requests_of_a_life):
    items = rendered(chart, VALUE_SETS["everything"])
    role = next(item for item in items if item["kind"] == "Role")
    cluster_role = next(item for item in items if item["kind"] == "ClusterRole")
    granted = allowed([*role["rules"], *cluster_role["rules"]])
    assert requests_of_a_life - granted == set(), "the chart forgets these"
    assert granted - requests_of_a_life == set(), "nobody uses these"
