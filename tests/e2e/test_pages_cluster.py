"""Clusters in the browser: registered by an administrator, chosen at launch, their pods on the page of the run."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from controlplane.common.models import Role
from runs.models import Cluster, Run, Sight
from runs.services import configs
from tests.e2e.browsing import Person, signed_in
from tests.fakes.kube import FakeCluster, answers
from tests.live_service import LiveService
from tests.runs.corpus import documents_on
from tests.waiting import wait_until

pytestmark = [pytest.mark.e2e, pytest.mark.slow(35), pytest.mark.timeout(240)]
PHONE = {"width": 390, "height": 844}
# A worker that was just started takes its time for the first task.
ANSWER_MS = 40_000


@pytest.fixture
def fake() -> Iterator[FakeCluster]:
    cluster = FakeCluster(nodes=2, gpus=1).start()
    cluster.run()
    yield cluster
    cluster.stop()


@pytest.fixture
def person(page: Page, live_service: LiveService) -> Iterator[Person]:
    someone = signed_in(page, live_service, Role.OPERATOR)
    someone.user.is_superuser = True
    someone.user.save(update_fields=["is_superuser"])
    yield someone
    assert someone.faults == []


def register(person: Person, fake: FakeCluster, tmp_path: Path, name: str = "lab") -> None:
    page = person.page
    person.open("/cluster/register/")
    page.get_by_label("Name", exact=True).fill(name)
    page.get_by_label("Trainer image").fill("trainer:1")
    page.get_by_label("Kubeconfig").fill(fake.kubeconfig(tmp_path / "kubeconfig").read_text())
    page.get_by_role("button", name="Register and test").click()
    expect(page.get_by_text("answers: Kubernetes v1.36.2")).to_be_visible(timeout=ANSWER_MS)


def kept_config(person: Person, tmp_path: Path, **changes: Any) -> int:
    document = documents_on(tmp_path)(
        compute__launcher="kubernetes", compute__devices=2, compute__nodes=2, **changes
    )
    made = configs.create_config(user=person.user, project=person.project, document=document)
    return made.pk


def launched(person: Person, config: int) -> Run:
    page = person.page
    person.open(f"/runs/new/?config={config}")
    expect(page.get_by_label("Launcher")).to_contain_text("lab: reachable, 2 of 2")
    page.get_by_role("button", name="Launch", exact=True).click()
    expect(page.get_by_role("navigation", name="Parts of the run")).to_be_visible(timeout=ANSWER_MS)
    return Run.objects.get()


def test_from_registering_a_cluster_to_the_pods_of_a_run(
    person: Person, fake: FakeCluster, tmp_path: Path
) -> None:
    page = person.page
    person.open("/cards/")
    page.keyboard.press("g")
    page.keyboard.press("l")
    expect(page.get_by_role("heading", name="No cluster is registered")).to_be_visible()
    register(person, fake, tmp_path)
    panel = page.locator('[data-cluster="lab"]')
    expect(panel).to_contain_text("2 free of 2")
    expect(panel).to_contain_text("gpu-node-1")
    config = kept_config(person, tmp_path)
    person.open(f"/configs/{config}/")
    page.get_by_role("link", name="Manifests").click()
    expect(page.locator("[data-manifests]")).to_contain_text("completionMode: Indexed")
    run = launched(person, config)
    page.get_by_role("link", name="Attempts").click()
    pods = page.locator(".pod-table tbody tr")
    expect(pods).to_have_count(2, timeout=ANSWER_MS)
    expect(pods.first).to_contain_text("gpu-node-")
    expect(pods.first).to_contain_text("Running", timeout=ANSWER_MS)
    person.open("/cluster/")
    person.service.kill("beat")
    page.get_by_role("button", name="Test connection").click()
    expect(panel).to_contain_text("0 free of 2", timeout=ANSWER_MS)
    assert run.launcher == "kubernetes:lab"


def test_a_refusal_of_the_cluster_is_told_by_field_before_anything_is_made(
    person: Person, fake: FakeCluster, tmp_path: Path
) -> None:
    register(person, fake, tmp_path)
    cause = {"field": "spec.template.spec.containers[0].image", "message": "Required value"}
    refused = answers.status(422, "Invalid", "Job is invalid", causes=[cause])
    fake.fail(lambda request: request.method == "POST" and request.is_dry, before=refused)
    config = kept_config(person, tmp_path)
    person.open(f"/runs/new/?config={config}")
    person.page.get_by_role("button", name="Launch", exact=True).click()
    refusal = person.page.locator('[data-finding="LAUNCH-1.dry_run"]')
    expect(refusal).to_contain_text("containers[0].image: Required value", timeout=ANSWER_MS)
    assert not Run.objects.exists()
    assert fake.list("jobs") == []


def test_why_a_run_waits_stands_in_its_header_and_on_the_page_of_the_cluster(
    person: Person, fake: FakeCluster, tmp_path: Path
) -> None:
    fake.make_quota(1)
    register(person, fake, tmp_path)
    run = launched(person, kept_config(person, tmp_path))
    header = person.page.locator("[data-run-header]")
    expect(header).to_contain_text("Quota q is used up", timeout=ANSWER_MS)
    person.page.get_by_role("link", name="Timeline").click()
    expect(person.page.locator(".timeline")).to_contain_text("FailedCreate", timeout=ANSWER_MS)
    person.open("/cluster/")
    expect(person.page.locator('[data-cluster="lab"] .waiting')).to_contain_text(
        "Quota q is used up"
    )
    assert run.launcher == "kubernetes:lab"


def is_compared_again() -> bool:
    """Make the comparison due now and not half a minute after the last one; say whether it found something."""
    Sight.objects.filter(drift=[]).update(drift_checked_at=None)
    return Sight.objects.exclude(drift=[]).exists()


def test_an_edit_behind_our_back_raises_the_alarm(
    person: Person, fake: FakeCluster, tmp_path: Path
) -> None:
    register(person, fake, tmp_path)
    run = launched(person, kept_config(person, tmp_path))
    wait_until(lambda: Sight.objects.filter(drift_checked_at__isnull=False).exists(), 60)
    name = fake.list("pods")[0]["metadata"]["name"]
    fake.store.objects["pods", "team", name]["spec"]["containers"][0]["image"] = "evil:1"
    wait_until(is_compared_again, 60, every=0.3)
    alarm = person.page.locator("[data-drift]")
    expect(alarm).to_contain_text("spec.containers.trainer.image", timeout=ANSWER_MS)
    person.open(f"/runs/{run.pk}/proof/")
    expect(person.page.locator('[data-finding="CONF-2.drift"]')).to_contain_text("evil:1")


def test_a_cluster_is_removed_after_a_question_and_no_secret_is_ever_shown(
    person: Person, fake: FakeCluster, tmp_path: Path
) -> None:
    register(person, fake, tmp_path)
    page = person.page
    page.get_by_role("link", name="Replace").click()
    expect(page.get_by_label("Kubeconfig")).to_have_value("")
    assert "secret-token" not in page.content()
    person.open("/cluster/")
    page.get_by_role("button", name="Remove").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("Remove cluster lab?")
    dialog.get_by_role("button", name="Remove").click()
    expect(page.get_by_text("Cluster lab was forgotten.")).to_be_visible()
    assert not Cluster.objects.exists()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_pages_fit_a_phone(
    person: Person, fake: FakeCluster, tmp_path: Path, theme: str
) -> None:
    register(person, fake, tmp_path)
    config = kept_config(person, tmp_path)
    run = launched(person, config)
    wait_until(lambda: Sight.objects.exists(), 60)
    page = person.page
    page.emulate_media(color_scheme=theme)
    page.set_viewport_size(PHONE)
    for path in (
        "/cluster/",
        "/cluster/register/",
        f"/configs/{config}/manifests/",
        f"/runs/{run.pk}/attempts/",
    ):
        person.open(path)
        page.wait_for_load_state("networkidle")
        wide = page.evaluate(
            "document.documentElement.scrollWidth - document.documentElement.clientWidth"
        )
        assert wide <= 0, f"{path} is {wide} px too wide"
