import json
import time

import pytest

from tests.fakes.kube import answers
from tests.fakes.test_kube import job
from workers.kube.api import Kube
from workers.kube.connecting import Credentials
from workers.kube.errors import KubeError, from_answer
from workers.kube.kinds import JOB, JOBSET, POD, SERVICE


def test_a_list_gives_the_objects_and_the_version_to_watch_from(cluster, kube):
    kube.create(JOB, "team", job())
    cluster.tick()
    listing = kube.list(POD, "team", selector="job-name=job")
    assert len(listing.items) == 1
    assert kube.list(POD, "team", selector="job-name=other").items == []
    assert int(listing.version) >= 3


def test_an_unknown_field_is_refused_and_not_dropped(kube):
    with pytest.raises(KubeError, match=r"unknown field \"spec.nonsense\"") as caught:
        kube.create(JOB, "team", job(nonsense=1))
    assert not caught.value.can_retry


def test_a_dry_run_validates_and_stores_nothing(cluster, kube):
    kube.create(JOB, "team", job(), is_dry=True)
    assert cluster.list("jobs") == []
    with pytest.raises(KubeError, match="RFC 1123"):
        kube.create(JOB, "team", job("Bad_Name"), is_dry=True)


def test_a_name_that_is_taken_is_told_from_a_stale_write(kube):
    kube.create(JOB, "team", job())
    with pytest.raises(KubeError) as caught:
        kube.create(JOB, "team", job())
    assert caught.value.is_taken
    assert not caught.value.can_retry
    with pytest.raises(KubeError) as caught:
        kube.patch(JOB, "team", "job", {"metadata": {"resourceVersion": "1", "labels": {"a": "b"}}})
    assert not caught.value.is_taken
    assert caught.value.can_retry


def test_a_refused_template_is_told_without_its_dump(kube):
    kube.create(JOB, "team", job())
    secret = {"name": "main", "image": "other", "env": [{"name": "K", "value": "do-not-show"}]}
    with pytest.raises(KubeError, match="spec.template.spec: field is immutable") as caught:
        kube.patch(JOB, "team", "job", {"spec": {"template": {"spec": {"containers": [secret]}}}})
    assert "do-not-show" not in caught.value.message


def test_a_missing_object_and_a_missing_kind_are_absent(kube):
    for kind in (JOB, JOBSET):
        with pytest.raises(KubeError) as caught:
            kube.read(kind, "team", "nowhere")
        assert caught.value.is_absent
        assert not caught.value.is_unreachable


def test_an_answer_lost_after_the_effect_may_have_happened(cluster, kube):
    cluster.fail(lambda r: r.method == "POST", is_dropped_after=True)
    with pytest.raises(KubeError) as caught:
        kube.create(JOB, "team", job())
    assert caught.value.may_have_happened
    assert cluster.server.count("POST", "jobs") == 1
    assert kube.read(JOB, "team", "job")["metadata"]["name"] == "job"


def test_a_deletion_whose_answer_was_lost_is_sent_once(cluster, kube):
    kube.create(JOB, "team", job())
    cluster.fail(lambda r: r.method == "DELETE", is_dropped_after=True)
    with pytest.raises(KubeError):
        kube.delete(JOB, "team", "job")
    assert cluster.server.count("DELETE", "jobs") == 1


def test_a_server_that_is_down_is_unreachable_and_nothing_was_sent(cluster, kube):
    kube.list(POD, "team")
    cluster.server.stop()
    with pytest.raises(KubeError, match="gave no answer") as caught:
        Kube(kube._credentials).list(POD, "team")
    assert caught.value.is_unreachable
    assert not caught.value.may_have_happened


def test_a_throttled_request_is_retryable_and_says_how_long(cluster, kube):
    cluster.fail(lambda r: r.method == "GET", before=answers.too_many_requests())
    with pytest.raises(KubeError, match="Too many requests") as caught:
        kube.list(POD, "team")
    assert caught.value.can_retry
    assert caught.value.is_unreachable
    assert caught.value.retry_after_seconds == 1
    assert cluster.server.count("GET", "pods") == 1


def test_one_403_does_not_say_that_anything_is_absent(cluster, kube):
    refused = answers.status(403, "Forbidden", "pods is forbidden: roles are not loaded")
    cluster.fail(lambda r: r.method == "GET", before=refused)
    with pytest.raises(KubeError) as caught:
        kube.list(POD, "team")
    assert caught.value.is_unreachable
    assert kube.list(POD, "team").items == []


def test_after_a_401_the_credentials_are_read_again(cluster, kube):
    refused = answers.status(401, "Unauthorized", "Unauthorized")
    cluster.fail(lambda r: r.method == "GET", before=refused)
    assert kube.list(POD, "team").items == []
    cluster.fail(lambda r: r.method == "GET", times=2, before=refused)
    with pytest.raises(KubeError) as caught:
        kube.list(POD, "team")
    assert "renew the token" in caught.value.hint
    assert caught.value.is_unreachable


def test_a_deletion_names_a_policy_so_no_pod_is_orphaned(cluster, kube):
    kube.create(JOB, "team", job())
    cluster.tick()
    assert kube.delete(JOB, "team", "job")
    cluster.tick(1)
    cluster.tick(6)
    assert cluster.list("pods") == []
    assert not kube.delete(JOB, "team", "job")


def test_a_deletion_by_uid_spares_what_was_made_anew(cluster, kube):
    kube.create(JOB, "team", job())
    assert not kube.delete(JOB, "team", "job", uid="another")
    assert cluster.find("jobs", "team", "job")


def test_a_watch_yields_changes_and_a_bookmark(cluster, kube):
    version = kube.list(JOB, "team").version
    kube.create(JOB, "team", job())
    events = list(kube.watch(JOB, "team", selector="app=rec", version=version, seconds=1))
    assert [type_ for type_, _ in events] == ["ADDED", "BOOKMARK"]


def test_an_expired_watch_says_so(cluster, kube):
    version = kube.list(JOB, "team").version
    cluster.restart_server()
    with pytest.raises(KubeError) as caught:
        list(kube.watch(JOB, "team", selector="", version=version, seconds=1))
    assert caught.value.is_expired


def test_a_watch_that_breaks_is_a_lost_connection(cluster, kube):
    version = kube.list(JOB, "team").version
    stream = kube.watch(JOB, "team", selector="", version=version, seconds=30)
    kube.create(JOB, "team", job())
    assert next(stream)[0] == "ADDED"
    started = time.monotonic()
    cluster.server.stop()
    with pytest.raises(KubeError) as caught:
        list(stream)
    assert caught.value.is_unreachable
    assert time.monotonic() - started < 5


def test_logs_of_a_pod_that_has_not_started_or_is_gone_are_told_apart(cluster, kube):
    kube.create(JOB, "team", job())
    cluster.tick()
    name = kube.list(POD, "team").items[0]["metadata"]["name"]
    assert kube.log("team", name, "main") == b""
    with pytest.raises(KubeError) as caught:
        kube.log("team", "gone", "main")
    assert caught.value.is_absent


def test_a_custom_kind_is_handled_like_any_other(cluster, kube):
    cluster.server.custom_groups = frozenset({"jobset.x-k8s.io"})
    item = {
        "apiVersion": JOBSET.api_version,
        "kind": "JobSet",
        "metadata": {"name": "s"},
        "spec": {},
    }
    kube.create(JOBSET, "team", item)
    kube.patch(JOBSET, "team", "s", {"spec": {"suspend": True}})
    assert kube.read(JOBSET, "team", "s")["spec"] == {"suspend": True}
    assert "jobset.x-k8s.io" in kube.groups()
    assert kube.version() == "v1.36.2"


def test_a_service_can_be_made_and_owned(kube):
    kube.create(SERVICE, "team", {"metadata": {"name": "s"}, "spec": {"clusterIP": "None"}})
    assert kube.read(SERVICE, "team", "s")["spec"]["clusterIP"] == "None"


def test_credentials_that_cannot_be_read_are_told():
    with pytest.raises(KubeError, match="credentials cannot be read"):
        Kube(Credentials(kubeconfig={"clusters": []})).version()
    with pytest.raises(KubeError, match="no credentials"):
        Kube(Credentials()).version()
    assert "secret" not in repr(Credentials(token="secret", url="https://x"))


@pytest.mark.parametrize(
    ("message", "has_hint"),
    [
        ('jobs.batch is forbidden: User "u" cannot create resource "jobs" in API group "batch"', True),
        ('pods "a" is forbidden: exceeded quota: q', False),
        ("admission webhook denied the request: no owner label", False),
    ],
)  # fmt: skip
def test_only_a_missing_right_asks_for_rights(message, has_hint):
    told = from_answer(403, json.dumps({"reason": "Forbidden", "message": message}), {}, "create")
    assert bool(told.hint) is has_hint
    assert not told.can_retry
