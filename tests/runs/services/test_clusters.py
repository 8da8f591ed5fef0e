import json

import pytest
import yaml

from controlplane.common.errors import Conflict, Forbidden, Invalid
from controlplane.common.models import AuditEntry
from runs.models import Cluster
from runs.services import clusters
from tests.factories import make_run, make_user

pytestmark = pytest.mark.django_db
KUBECONFIG = {
    "apiVersion": "v1", "kind": "Config", "current-context": "lab",
    "clusters": [{"name": "lab", "cluster": {"server": "https://lab.example"}}],
    "contexts": [{"name": "lab", "context": {"cluster": "lab", "user": "u", "namespace": "team"}}],
    "users": [{"name": "u", "user": {"token": "do-not-show"}}],
}  # fmt: skip


@pytest.fixture
def root():
    return make_user(is_superuser=True)


def register(user, **changes):
    values = {
        "name": "lab", "namespace": "", "way": "kubeconfig", "image": "trainer:1",
        "kubeconfig": yaml.safe_dump(KUBECONFIG),
    }  # fmt: skip
    return clusters.register_cluster(user=user, **values | changes)


def test_credentials_are_kept_encrypted_and_never_in_the_audit_trail(root):
    cluster = register(root)
    stored = json.dumps(list(Cluster.objects.values()), default=str)
    audited = json.dumps(list(AuditEntry.objects.values()), default=str)
    assert "do-not-show" not in stored + audited
    assert clusters.credentials_of(cluster)["kubeconfig"] == KUBECONFIG
    assert cluster.namespace == "team"


def test_only_an_administrator_registers_and_removes():
    with pytest.raises(Forbidden):
        register(make_user())
    cluster = register(make_user(is_superuser=True))
    with pytest.raises(Forbidden):
        clusters.remove_cluster(user=make_user(), cluster=cluster)


def test_registering_again_gives_new_credentials_and_keeps_the_owner(root):
    first = register(root)
    second = register(root, way="token", url="https://lab.example", token="t2", namespace="b")
    assert (second.pk, second.owner, second.namespace) == (first.pk, first.owner, "b")
    assert clusters.credentials_of(second)["token"] == "t2"


@pytest.mark.parametrize(
    ("changes", "field", "message"),
    [
        ({"kubeconfig": "a: [b"}, "kubeconfig", "not YAML"),
        ({"kubeconfig": "a: b"}, "kubeconfig", "names no clusters"),
        ({"name": "Not Valid"}, "name", "valid"),
        ({"way": "magic"}, "way", "Choose one of"),
        ({"way": "token"}, "url", "needed"),
        ({"way": "token", "url": "http://x", "token": "t"}, "url", "https://"),
        ({"image": ""}, "image", "blank"),
    ],
)
def test_what_cannot_be_used_is_refused_by_field(root, changes, field, message):
    with pytest.raises(Invalid) as caught:
        register(root, **changes)
    assert message in " ".join(caught.value.fields[field])


@pytest.mark.parametrize(
    "user",
    [
        {"exec": {"command": "/bin/sh", "args": ["-c", "touch /tmp/x"]}},
        {"tokenFile": "/etc/shadow"},
        {"client-key": "/root/.ssh/id_rsa"},
    ],
)
def test_a_kubeconfig_that_runs_a_program_or_reads_a_file_of_ours_is_refused(root, user):
    document = KUBECONFIG | {"users": [{"name": "u", "user": user}]}
    with pytest.raises(Invalid) as caught:
        register(root, kubeconfig=yaml.safe_dump(document))
    assert "into it" in caught.value.fields["kubeconfig"][0]


def test_a_cluster_in_use_is_not_removed(root):
    cluster = register(root)
    run = make_run(launcher=cluster.launcher, needs_reconcile=True)
    with pytest.raises(Conflict, match=f"in use by run {run.pk}"):
        clusters.remove_cluster(user=root, cluster=cluster)
    run.needs_reconcile = False
    run.save(update_fields=["needs_reconcile"])
    clusters.remove_cluster(user=root, cluster=cluster)
    assert not Cluster.objects.exists()


def test_since_when_a_cluster_does_not_answer_is_kept(root):
    cluster = register(root)
    clusters.record_unreachable(cluster=cluster, reason="no route")
    cluster.refresh_from_db()
    since = cluster.state_at
    clusters.record_unreachable(cluster=cluster, reason="still no route")
    cluster.refresh_from_db()
    assert (cluster.state, cluster.reason, cluster.state_at) == (
        "unreachable",
        "still no route",
        since,
    )
    clusters.record_survey(cluster=cluster, version="v1.36.2", survey={"nodes": None})
    cluster.refresh_from_db()
    assert (cluster.state, cluster.reason) == ("reachable", "")
