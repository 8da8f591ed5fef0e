import json
from concurrent.futures import ThreadPoolExecutor

import pytest
import yaml
from django.db import connection, transaction

from controlplane.common.errors import Conflict, Forbidden, Invalid
from controlplane.common.models import AuditEntry
from runs.models import Cluster
from runs.services import clusters, runs
from tests.factories import make_run, make_user
from tests.waiting import wait_until

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


@pytest.mark.parametrize(
    ("field", "value"),
    [("namespace", "Bad Name"), ("namespace", "-a"), ("ingest_url", "nope"), ("ingest_url", "http://")],
)  # fmt: skip
def test_what_no_pod_could_use_is_refused_by_field(root, field, value):
    with pytest.raises(Invalid) as refused:
        register(root, **{field: value})
    assert list(refused.value.fields) == [field]
    assert register(root, ingest_url="http://here:8000/safehold").ingest_url.endswith("/safehold")


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


def test_the_line_break_behind_a_pasted_token_is_none_of_it(root):
    cluster = register(root, way="token", url=" https://lab.example ", token="t2\n")
    held = clusters.credentials_of(cluster)
    assert (held["url"], held["token"]) == ("https://lab.example", "t2")


@pytest.mark.parametrize(
    ("changes", "field", "message"),
    [
        ({"kubeconfig": "a: [b"}, "kubeconfig", "not YAML"),
        ({"kubeconfig": "a: b"}, "kubeconfig", "names no clusters"),
        ({"kubeconfig": "clusters: lab"}, "kubeconfig", "`clusters` is not a list"),
        ({"kubeconfig": "clusters: [{name: lab, cluster: [x]}]"}, "kubeconfig", "`clusters` is"),
        ({"kubeconfig": "clusters: [{name: a}]\nusers: [u]"}, "kubeconfig", "`users` is not"),
        ({"kubeconfig": "clusters: [{name: a}]\ncontexts: 7"}, "kubeconfig", "`contexts` is"),
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


def test_the_namespace_of_a_cluster_in_use_does_not_change(root):
    """What lives in the old one would be taken for gone, and started again beside itself."""
    cluster = register(root)
    run = make_run(launcher=cluster.launcher, needs_reconcile=True)
    again = {"way": "token", "url": "https://lab.example", "token": "t2"}
    with pytest.raises(Conflict, match=f"in use by run {run.pk}") as caught:
        register(root, **again)
    assert "team" in caught.value.hint
    cluster.refresh_from_db()
    assert (cluster.namespace, cluster.way) == ("team", "kubeconfig")

    register(root, **again, namespace="team")
    cluster.refresh_from_db()
    assert (cluster.namespace, cluster.way) == ("team", "token")


def test_a_run_whose_cluster_was_removed_is_refused_and_not_left_open(root):
    cluster = register(root)
    run = make_run(launcher=cluster.launcher)
    clusters.remove_cluster(user=root, cluster=cluster)
    with pytest.raises(Conflict, match="Cluster lab is not registered any more"):
        runs.request_launch(run=run, user=run.created_by)
    assert not run.attempts.exists()


@pytest.mark.django_db(transaction=True)
def test_a_cluster_is_not_removed_under_a_launch_at_the_same_moment(root):
    cluster = register(root)
    run = make_run(launcher=cluster.launcher)

    def remove() -> None:
        try:
            clusters.remove_cluster(user=root, cluster=cluster)
        finally:
            connection.close()

    with ThreadPoolExecutor(1) as pool:
        with transaction.atomic():
            runs.request_launch(run=run, user=run.created_by)
            removal = pool.submit(remove)
            wait_until_one_waits()
        with pytest.raises(Conflict, match=f"in use by run {run.pk}"):
            removal.result(10)
    assert Cluster.objects.exists()


def wait_until_one_waits() -> None:
    """Wait until another connection waits for a lock of this one."""

    def waits() -> bool:
        with connection.cursor() as cursor:
            cursor.execute("SELECT count(*) FROM pg_locks WHERE NOT granted")
            return bool(cursor.fetchone()[0])

    wait_until(waits, 10, "nobody waits")


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
