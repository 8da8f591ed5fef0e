"""What the service stores in English meets a Chinese reader in Chinese, on every page that shows it."""

from pathlib import Path

import pytest
from django.test import Client
from django.utils import timezone

from controlplane.common import audit
from controlplane.common.models import Role
from runs.models import Attempt, Cluster, Config, PreflightReport, Run, Sight
from runs.services import cards, configs, events, preflight, runs
from safehold.config import to_toml
from safehold.preflight import Facts, run_checks
from tests.english import chinese, english_on
from tests.factories import make_attempt, make_config, make_run, make_user
from tests.runs.api.test_clusters import SURVEY
from tests.runs.corpus import documents_on
from tests.runs.views.people import People

LOST = "Nothing is heard from the training process; it may still be running."
TOLD = [
    ("state", "It waits for devices."),
    ("state", "Rank 3 was ended by signal 9 (SIGKILL). 2 other ranks ended with it."),
    ("state", "Waiting for devices of this machine: it needs 8, 3 of 8 are free. 2 attempts are before it."),
    ("contact_lost", LOST),
    ("contact_regained", "The training process is heard again."),
    ("command", "The trainer refused to save, then stop: it gave no reason"),
    ("clock_skew", "The sender's clock is 0:05:00 ahead of ours."),
    ("checkpoint", "Checkpoint of step 40 is stable. The loss stayed healthy from step 40 to 80 (20 points)."),
    ("eval", "Evaluated at step 40: validation/loss is 2.5."),
    ("lifecycle", "Rank 0: paused at step 40."),
    ("samples", "Sample outputs were logged at step 40."),
    ("rendezvous", "The nodes meet at 10.0.0.7, port 29500."),
    ("drift", "spec.template of the Job and 2 more is another:1; the config says trainer:1."),
    ("cluster", "It was evicted, as when a node is drained."),
    ("orphan_ended", "Something of the ended attempt was still alive and was ended."),
    ("reconcile_failed", "Seeing to this run failed; it is tried again in 5 minutes. OSError: x"),
    ("reconcile_poison", "Workers died 3 times while they saw to this run; the next try is in 60 seconds, or when somebody asks for something."),
]  # fmt: skip


def english(client: Client, url: str, data: object = None) -> list[str]:
    return english_on(chinese(client, "get" if data is None else "post", url, data))


@pytest.fixture
def attempt(people: People) -> Attempt:
    run = make_run(project=people.project, created_by=people.operator_user, name="gpt")
    return make_attempt(
        run=run, state="ended", outcome="failed", ended_at=timezone.now(), where="node-a and 3 more",
        reason="Rank 0 failed with exit code 1: OSError. 1 other rank ended with it.",
    )  # fmt: skip


def test_the_timeline(people: People, attempt: Attempt) -> None:
    for kind, message in TOLD:
        events.record(run=attempt.run, attempt=attempt, kind=kind, message=message)
    page = chinese(people.viewer, "get", f"/runs/{attempt.run_id}/timeline/")
    assert english_on(page) == []
    for _kind, message in TOLD:
        assert message not in page
    assert "收不到训练进程的消息；它可能仍在运行。" in page


def test_what_people_do_to_a_run(people: People) -> None:
    run = make_run(project=people.project, created_by=people.operator_user, name="gpt")
    user = people.operator_user
    runs.request_launch(run=run, user=user)
    runs.request_pause(run=run, user=user, reason="lunch")
    runs.request_resume(run=run, user=user)
    runs.request_stop(run=run, user=user)
    runs.request_stop(run=run, user=user, force=True)
    assert english(people.viewer, f"/runs/{run.pk}/timeline/") == []
    for url in ("", "attempts/", "proof/", "header/"):
        assert english(people.operator, f"/runs/{run.pk}/{url}") == [], url


@pytest.mark.parametrize("tab", ["", "attempts/", "proof/", "logs/", "checkpoints/"])
def test_the_parts_of_a_run(people: People, attempt: Attempt, tab: str) -> None:
    drift = {
        "code": "K8S-6.drift",
        "severity": "fail",
        "evidence": {},
        "advice": "Write the whole path.",
    }
    drift["message"] = "command is 'x' in /a/spec.json; it was launched with 'y'."
    pod = {"name": "p-0", "index": 0, "node": "a", "word": "lost", "exit_code": None}
    Sight.objects.create(
        attempt=attempt, drift=[drift], drift_checked_at=timezone.now(),
        pods={"num": 1, "words": {"lost": 1}, "rows": [pod | {"reason": "Its node is gone."}]},
    )  # fmt: skip
    assert english(people.operator, f"/runs/{attempt.run_id}/{tab}") == []


def test_the_lists(people: People, attempt: Attempt) -> None:
    for url in (
        "/",
        "/runs/",
        "/configs/",
        "/cards/",
        "/preflight/",
        "/checkpoints/",
        "/runs/new/",
    ):
        assert english(people.operator, url) == [], url


def test_a_report_of_every_check(people: People, tmp_path: Path) -> None:
    document = documents_on(tmp_path)(
        optimizer__lr=0.05, train__accumulation=2, train__divide_loss=False
    )
    (tmp_path / "corpus/a.jsonl").write_text('{"text": "one"}\n{"text": 3}\nnone\n{"text": ""}\n\n')
    config = configs.create_config(
        user=people.operator_user, project=people.project, document=document
    )
    report = preflight.request(config=config, user=people.operator_user)
    assert {one["severity"] for one in report.findings} >= {"pass", "fail", "warn"}
    assert english(people.viewer, f"/preflight/{report.pk}/") == []
    assert english(people.viewer, f"/configs/{config.pk}/") == []
    assert english(people.operator, f"/runs/new/?config={config.pk}") == []


def test_a_report_where_nothing_was_gathered(people: People) -> None:
    config = make_config(project=people.project, passed=False)
    report = PreflightReport.objects.create(
        config=config, config_hash=config.hash, state="failed", verdict="",
        error="The checks could not be run: No space left on device",
        findings=run_checks(Facts()).to_dict()["findings"],
    )  # fmt: skip
    assert english(people.viewer, f"/preflight/{report.pk}/") == []


def test_a_launch_that_is_refused(people: People) -> None:
    document = {"optimizer": {"lr": 9.0}}
    finding = {
        "code": "A-1.b",
        "severity": "fail",
        "message": "The data were not read.",
        "evidence": {},
    }
    run = make_run(
        project=people.project, created_by=people.operator_user, name="gpt", passed=False
    )
    Config.objects.filter(pk=run.config_id).update(document=document)
    PreflightReport.objects.create(
        config=run.config, config_hash=run.config.hash, state="done", verdict="fail",
        findings=[finding | {"advice": "Correct the path."}], ended_at=timezone.now(),
    )  # fmt: skip
    assert english(people.operator, f"/runs/{run.pk}/launch/act/", {}) == []
    assert english(people.operator, f"/runs/{run.pk}/timeline/") == []


@pytest.mark.parametrize("side", ["toml", "form"])
def test_a_config_with_faults(people: People, tmp_path: Path, side: str) -> None:
    sound = documents_on(tmp_path)
    typed = {
        "side": side,
        "toml": to_toml(sound()) + "\n[a]\nb = 1\n",
        "optimizer.lr": "much",
        "train.steps": "-1",
    }
    for toml in (
        typed["toml"],
        "a = ",
        'name = "x"\n[optimizer]\nlr = -1\nbetas = [1, 2, 3]\n[network]\nheads = 7',
    ):
        assert english(people.operator, "/configs/check/", typed | {"toml": toml}) == []


def test_what_rules_say_of_a_config_that_is_typed(people: People, tmp_path: Path) -> None:
    toml = to_toml(
        documents_on(tmp_path)(optimizer__lr=0.09, optimizer__warmup_steps=0, optimizer__clip=9.0)
    )
    page = chinese(people.operator, "post", "/configs/check/", {"side": "toml", "toml": toml})
    assert english_on(page) == []
    assert "常用：" in page


def test_two_configs(people: People, tmp_path: Path) -> None:
    make = documents_on(tmp_path)
    old, new = (
        configs.create_config(
            user=people.operator_user, project=people.project, document=make(**changes)
        )
        for changes in (
            {"name": "old"},
            {
                "name": "new",
                "train__global_batch": 32,
                "train__steps": 50,
                "log__every": 2,
                "checkpoint__keep_anchors": 9,
            },
        )
    )
    assert english(people.viewer, f"/configs/{new.pk}/diff/?with={old.pk}") == []


@pytest.mark.parametrize("stage", ["pretrain", "continued", "sft", "preference"])
def test_the_live_column_of_a_card(people: People, stage: str) -> None:
    typed = {
        "name": "x", "stage": stage, "network.parameters": "70e9", "data.tokens": "1e9", "data.unique_tokens": "1e8",
        "data.origin": "public", "compute.peak_tflops_per_device": "300", "compute.mfu": "0.5", "compute.devices": "512",
        "compute.budget_device_days": "1", "compute.available_days": "1", "plan.tensor_parallel": "16", "network.heads": "x",
    }  # fmt: skip
    assert english(people.operator, "/cards/estimate/", typed) == []
    assert english(people.operator, "/cards/new/?stage=" + stage) == []


def test_a_kept_card(people: People) -> None:
    card = cards.create_card(
        user=people.operator_user,
        project=people.project,
        name="Small GPT",
        data={"data": {"tokens": 1000}},
    )
    assert english(people.operator, f"/cards/{card.pk}/") == []


def test_the_rulebook(people: People) -> None:
    assert english(people.viewer, "/settings/rulebook/") == []


def test_the_clusters(people: People) -> None:
    Cluster.objects.create(
        name="lab", namespace="team", way="in_cluster", image="trainer:1", state="unreachable", survey=SURVEY,
        reason="The cluster gave no answer to the request to list nodes: Connection refused", created_by=make_user(),
    )  # fmt: skip
    run = make_run(
        project=people.project, created_by=people.operator_user, launcher="kubernetes:lab"
    )
    make_attempt(run=run, state="waiting", reason="Waiting in queue q: no quota yet")
    page = chinese(people.viewer, "get", "/cluster/")
    assert "在队列 q 中等待：暂无配额" in page
    assert "集群对“列出 nodes”的请求没有响应：连接被拒绝" in page


def test_the_trail(people: People, attempt: Attempt) -> None:
    admin = make_user(Role.ADMIN, people.project)
    client = Client()
    client.force_login(admin)
    for action, thing in (
        ("run.launch", attempt.run),
        ("preflight.request", make_report(attempt.run)),
        ("run.purge", attempt.run),
    ):
        audit.record(
            actor=admin,
            action=action,
            object=thing,
            project_id=people.project.pk,
            data={"reason": "x", "is_shared": True},
        )
    page = chinese(client, "get", "/settings/audit/")
    assert english_on(page) == []
    assert "启动运行" in page
    assert "预检报告" in page
    assert "preflightreport " not in page
    assert english(client, "/settings/audit/?action=run.launch") == []


def make_report(run: Run) -> PreflightReport:
    return PreflightReport.objects.create(config=run.config, config_hash=run.config.hash)


def test_the_api_says_what_is_stored(people: People, attempt: Attempt) -> None:
    events.record(run=attempt.run, attempt=attempt, kind="contact_lost", message=LOST)
    told = chinese(people.viewer, "get", f"/api/v1/runs/{attempt.run_id}/events")
    assert LOST in told
    assert attempt.reason in chinese(people.viewer, "get", f"/api/v1/runs/{attempt.run_id}")
