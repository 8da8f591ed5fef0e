"""What is known of a launch before it happens: the objects, the cluster's word, the refusal field by field."""

import pytest
from celery import current_app

from controlplane.common.errors import Invalid
from runs.models import Event
from runs.services import hands, manifests, preflight, runs
from safehold.config import canonical_document
from tests.factories import make_config
from tests.fakes.kube import FakeCluster, answers
from tests.safehold.documents import make_config as make_document
from tests.workers.test_watcher import registered
from workers import previews

pytestmark = pytest.mark.django_db


@pytest.fixture
def cluster(tmp_path):
    fake = FakeCluster(nodes=2, gpus=8).start()
    registered(fake, tmp_path)
    yield fake
    fake.stop()


@pytest.fixture(autouse=True)
def here(monkeypatch):
    """A worker that answers in this very process."""

    def send(name, arguments, expires_seconds):
        current_app.tasks[name](**arguments)

    monkeypatch.setattr(hands, "_send", send)


def config_of(**changes):
    document = make_document(compute__launcher="kubernetes", **changes)
    return make_config(document=canonical_document(document), kind=document.kind)


def launched(config):
    run = runs.create_run(user=config.created_by, project=config.project, config=config)
    return run, preflight.launch(run=run, user=config.created_by)


def test_the_preview_shows_all_objects_and_no_secret(cluster):
    config = config_of(
        kubernetes__secret_env={"HF_TOKEN": "hugging/token"}, kubernetes__image="trainer:7"
    )
    made = manifests.manifests(config=config, cluster="lab")
    assert [one["kind"] for one in made] == ["Job", "Service", "Secret"]
    text = manifests.as_yaml(made)
    assert "trainer:7" in text
    assert set(made[2]["data"].values()) == {"(hidden)"}
    assert not cluster.server.requests, "nobody was asked"


def test_a_config_of_this_machine_has_no_preview(cluster):
    with pytest.raises(Invalid, match="written for the launcher local"):
        manifests.manifests(config=make_config())


def test_a_workload_that_the_cluster_takes_passes_and_stores_nothing(cluster):
    (finding,) = previews.dry_run(config_of(), "kubernetes:lab")
    assert finding.severity == "pass"
    assert cluster.list("jobs") == []


def refuse(cluster, field="spec.template.spec.containers[0].image", message="Required value"):
    body = answers.status(
        422, "Invalid", "Job is invalid", causes=[{"field": field, "message": message}]
    )
    cluster.fail(lambda r: r.method == "POST" and r.is_dry, before=body, times=9)


@pytest.mark.parametrize(
    ("field", "ours"),
    [
        ("spec.template.spec.containers[0].image", "kubernetes.image"),
        ("spec.template.spec.containers[0].resources.limits[memory]", "kubernetes.memory"),
        ("spec.template.spec.containers[0].volumeMounts[3].mountPath", "kubernetes.volumes"),
        ("spec.template.spec.tolerations[0].operator", "kubernetes.tolerations"),
        ("metadata.name", "kubernetes"),
    ],
)
def test_a_refusal_names_the_field_of_the_config(cluster, field, ours):
    refuse(cluster, field)
    (finding,) = previews.dry_run(config_of(), "kubernetes:lab")
    assert (finding.severity, finding.evidence["field"]) == ("fail", ours)
    assert finding.evidence["object_field"] == field
    assert "Required value" in finding.message


def test_a_launch_that_the_cluster_would_refuse_is_refused_in_words(cluster):
    refuse(cluster)
    with pytest.raises(Invalid, match=r"Cluster lab refuses .*image: Required value") as caught:
        launched(config_of())
    assert "kubernetes.image" in caught.value.fields
    assert Event.objects.filter(kind="launch_refused").exists()


def test_a_launch_of_what_the_cluster_takes_is_asked_for_and_the_report_says_so(cluster):
    run, attempt = launched(config_of())
    assert (run.launcher, attempt.launcher) == ("kubernetes:lab", "kubernetes:lab")
    report = run.config.preflight_reports.first()
    assert {one["code"]: one["severity"] for one in report.findings}["LAUNCH-1.dry_run"] == "pass"


def test_a_cluster_that_cannot_be_asked_lets_an_experiment_go_and_holds_production(cluster):
    cluster.server.stop()
    launched(config_of())
    with pytest.raises(Invalid) as caught:
        launched(config_of(kind="production"))
    told = {one["code"]: one["message"] for one in caught.value.extra["findings"]}
    assert "could not be asked" in told["LAUNCH-1.dry_run"]


def test_without_a_worker_the_cluster_was_not_asked(cluster, monkeypatch):
    monkeypatch.setattr(hands, "_send", lambda *_: None)
    monkeypatch.setattr(hands, "PATIENCE_SECONDS", 0.1)
    monkeypatch.setattr(hands.ask, "__kwdefaults__", {"patience_seconds": 0.1})
    run, _ = launched(config_of())
    found = {one["code"]: one for one in run.config.preflight_reports.first().findings}
    assert found["LAUNCH-1.dry_run"]["severity"] == "unknown"
    assert "No worker answered" in found["LAUNCH-1.dry_run"]["message"]
