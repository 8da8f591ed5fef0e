"""What a person asks of a run."""

from collections.abc import Callable
from typing import Any

import pytest

from controlplane.common.errors import Conflict, Forbidden, Invalid, NotFound
from controlplane.common.models import AuditEntry, Role, User
from runs import states
from runs.models import Attempt, Config, Run
from runs.services import attempts, resume_points, runs
from tests.factories import make_config, make_project, make_user

pytestmark = pytest.mark.django_db
CHECKPOINT = {"id": 7, "path": "/ckpt/run-1/a1/step-50", "run": 1, "step": 50}


@pytest.fixture
def config() -> Config:
    project = make_project()
    owner = make_user(Role.OPERATOR, project)
    document = {"train": {"steps": 500}, "compute": {"devices": 4}}
    return make_config(project=project, created_by=owner, document=document)


@pytest.fixture
def user(config: Config) -> User:
    return config.created_by


@pytest.fixture
def run(config: Config, user: User) -> Run:
    return runs.create_run(user=user, project=config.project, config=config, name=" First ")


@pytest.fixture
def woken(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """The calls that reached the worker, sent at once."""
    calls: list[dict[str, Any]] = []
    monkeypatch.setattr(runs, "wake", lambda name, **ids: calls.append({"task": name} | ids))
    return calls


def end(attempt: Attempt, outcome: str = "stopped") -> None:
    attempts.end_attempt(attempt=attempt, outcome=outcome, reason="It ended.")


def acts(run: Run) -> list[str]:
    found = AuditEntry.objects.filter(object_type="run", object_id=str(run.pk)).order_by("pk")
    return list(found.values_list("action", flat=True))


def test_a_new_run_starts_nothing(run: Run, config: Config) -> None:
    assert (run.name, run.desired, run.needs_reconcile) == ("First", "stopped", False)
    assert (run.total_steps, run.num_devices) == (500, 4)
    assert not run.attempts.exists()
    assert acts(run) == ["run.create"]
    assert states.shown(states.Desired(run.desired), None).word == "draft"


def test_a_launch_pressed_twice_is_one_attempt(run: Run, user: User, woken: list) -> None:
    first = runs.request_launch(run=run, user=user)
    assert runs.request_launch(run=run, user=user) == first
    assert (first.number, first.state, run.desired, run.needs_reconcile) == (
        1, "requested", "running", True,
    )  # fmt: skip
    assert acts(run) == ["run.create", "run.launch"]
    assert woken == [{"task": "workers.reconcile", "run_id": run.pk}]


def test_a_launched_run_is_resumed_and_not_launched_again(run: Run, user: User) -> None:
    end(runs.request_launch(run=run, user=user))
    with pytest.raises(Conflict, match="resume it"):
        runs.request_launch(run=run, user=user)


def test_a_fork_begins_at_the_checkpoint(run: Run, user: User, config: Config) -> None:
    fork = runs.create_run(
        user=user, project=config.project, config=config, parent=run, from_checkpoint=CHECKPOINT
    )
    attempt = runs.request_launch(run=fork, user=user)
    assert (fork.parent, fork.forked_from_checkpoint) == (run, 7)
    assert (attempt.start_step, attempt.start_checkpoint) == (50, CHECKPOINT)
    assert fork.events.filter(message__contains="forked the run from First, step 50").exists()


def test_a_checkpoint_that_lacks_a_fact_is_named(user: User, config: Config) -> None:
    with pytest.raises(Invalid, match="lacks path, run, step"):
        runs.create_run(user=user, project=config.project, config=config, from_checkpoint={"id": 7})


def test_a_config_of_another_project_is_refused(user: User, config: Config) -> None:
    with pytest.raises(Invalid, match="config belongs to another project"):
        runs.create_run(user=user, project=config.project, config=make_config())


@pytest.mark.parametrize(
    "act", [runs.request_launch, runs.request_stop, runs.request_pause, runs.request_resume, runs.request_save]
)  # fmt: skip
def test_a_viewer_may_look_and_an_outsider_learns_nothing(
    run: Run, config: Config, act: Callable[..., Any]
) -> None:
    with pytest.raises(Forbidden, match="operator"):
        act(run=run, user=make_user(Role.VIEWER, config.project))
    with pytest.raises(NotFound):
        act(run=run, user=make_user())
    assert not run.attempts.exists()


def test_a_stop_is_wanted_once_and_can_become_a_forced_one(run: Run, user: User) -> None:
    with pytest.raises(Conflict, match="never launched"):
        runs.request_stop(run=run, user=user)
    runs.request_launch(run=run, user=user)
    for _ in range(2):
        runs.request_stop(run=run, user=user, reason="Too slow")
    runs.request_stop(run=run, user=user, force=True)
    runs.request_stop(run=run, user=user)
    assert (run.desired, run.is_forced) == ("stopped", True)
    assert acts(run)[2:] == ["run.stop", "run.force_stop"]
    assert run.events.filter(message__endswith="asked to save and stop: Too slow").count() == 1


def test_a_stop_after_the_end_changes_nothing(run: Run, user: User) -> None:
    end(runs.request_launch(run=run, user=user), "finished")
    runs.request_stop(run=run, user=user)
    run.refresh_from_db()
    assert run.desired == "running"


def test_a_held_run_can_be_stopped(run: Run, user: User) -> None:
    attempt = runs.request_launch(run=run, user=user)
    runs.request_pause(run=run, user=user)
    end(attempt)
    runs.request_stop(run=run, user=user)
    assert run.desired == "stopped"


def test_pause_and_resume_of_an_open_attempt_only_change_the_wish(run: Run, user: User) -> None:
    attempt = runs.request_launch(run=run, user=user)
    for _ in range(2):
        runs.request_pause(run=run, user=user)
    assert run.desired == "paused"
    assert runs.request_resume(run=run, user=user) == attempt
    assert runs.request_resume(run=run, user=user) == attempt
    assert run.desired == "running"
    assert acts(run)[2:] == ["run.pause", "run.resume"]
    with pytest.raises(Conflict, match="another checkpoint needs a new attempt"):
        runs.request_resume(run=run, user=user, from_checkpoint=CHECKPOINT)


def test_a_run_being_stopped_is_not_paused(run: Run, user: User) -> None:
    runs.request_launch(run=run, user=user)
    runs.request_stop(run=run, user=user)
    with pytest.raises(Conflict, match="being stopped"):
        runs.request_pause(run=run, user=user)


def test_the_last_wish_counts_while_a_run_is_being_stopped(run: Run, user: User) -> None:
    attempt = runs.request_launch(run=run, user=user)
    runs.request_stop(run=run, user=user)
    assert runs.request_resume(run=run, user=user) == attempt
    assert (run.desired, run.needs_reconcile) == ("running", True)


def test_resume_takes_the_given_checkpoint_else_the_newest_one(
    run: Run, user: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    end(runs.request_launch(run=run, user=user), "failed")
    newest = CHECKPOINT | {"id": 9, "step": 90}
    monkeypatch.setattr(resume_points, "_provider", lambda found: newest)
    monkeypatch.setattr(resume_points, "_recorder", None)
    second = runs.request_resume(run=run, user=user)
    assert (second.number, second.start_checkpoint) == (2, newest)
    end(second, "failed")
    third = runs.request_resume(run=run, user=user, from_checkpoint=CHECKPOINT)
    assert (third.number, third.start_step) == (3, 50)
    assert third.token_hash != second.token_hash


def test_without_any_checkpoint_a_resume_begins_anew(
    run: Run, user: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(resume_points, "_provider", lambda found: None)
    end(runs.request_launch(run=run, user=user), "failed")
    attempt = runs.request_resume(run=run, user=user)
    assert (attempt.start_step, attempt.start_checkpoint) == (0, {})


def test_a_finished_run_is_forked_and_not_resumed(run: Run, user: User) -> None:
    end(runs.request_launch(run=run, user=user), "finished")
    with pytest.raises(Conflict, match="has finished"):
        runs.request_resume(run=run, user=user)


def test_only_a_training_run_can_be_asked_to_save(run: Run, user: User) -> None:
    attempt = runs.request_launch(run=run, user=user)
    with pytest.raises(Conflict, match="not training"):
        runs.request_save(run=run, user=user)
    Attempt.objects.filter(pk=attempt.pk).update(state="running")
    command = runs.request_save(run=run, user=user)
    assert runs.request_save(run=run, user=user) == command
    assert command.kind == "save"


def test_a_run_leaves_the_list_of_reconciliation_only_with_nothing_open(
    run: Run, user: User
) -> None:
    attempt = runs.request_launch(run=run, user=user)
    assert not runs.settle(run=run)
    end(attempt)
    assert runs.settle(run=run)
    run.refresh_from_db()
    assert not run.needs_reconcile
