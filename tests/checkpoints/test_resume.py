import json

import pytest

from checkpoints import recovery, selectors
from checkpoints.models import StartedFrom
from checkpoints.selectors import NoRecoveryPoint
from controlplane.common.errors import Conflict, NotFound
from controlplane.common.models import Role
from runs.services import resume_points, runs
from tests.checkpoints.makers import CASES, begin, end, make_checkpoint, save, verify
from tests.factories import make_attempt, make_run, make_user

pytestmark = pytest.mark.django_db


def newest(run) -> int | None:
    found = selectors.newest_for_resume(run)
    return found.pk if found else None


def test_a_run_that_never_saved_begins_afresh():
    assert newest(make_run()) is None
    attempt = make_attempt()
    end(attempt)
    assert newest(attempt.run) is None


def test_after_a_failure_the_newest_stable_one_is_taken_else_the_newest_verified():
    attempt = make_attempt()
    older = make_checkpoint(attempt=attempt, step=100)
    newer = make_checkpoint(attempt=attempt, step=200)
    save(attempt, 300)
    end(attempt)
    assert newest(attempt.run) == newer.pk
    type(older).objects.filter(pk=older.pk).update(state="stable")
    assert newest(attempt.run) == older.pk


def test_after_a_clean_stop_the_last_save_is_taken_even_while_its_proof_is_under_way():
    attempt = make_attempt()
    make_checkpoint(attempt=attempt, step=100, state="stable")
    last = save(attempt, 130)
    end(attempt, "stopped")
    assert newest(attempt.run) == last.pk
    verify(last, is_whole=False)
    assert newest(attempt.run) != last.pk


def test_steps_are_numbers_and_10000_is_the_newest():
    case = json.loads((CASES / "events" / "rotation_by_name.json").read_text())
    attempt = make_attempt()
    made = {step: make_checkpoint(attempt=attempt, step=step) for step in case["verified_steps"]}
    end(attempt)
    assert newest(attempt.run) == made[10000].pk
    assert selectors.newest_usable(attempt.run_id).step == 10000


def test_damaged_ones_are_never_offered():
    attempt = make_attempt()
    good = make_checkpoint(attempt=attempt, step=100)
    make_checkpoint(attempt=attempt, step=200, state="damaged")
    end(attempt)
    assert newest(attempt.run) == good.pk


def test_when_nothing_is_proved_it_says_so_instead_of_starting_afresh():
    attempt = make_attempt()
    save(attempt, 200)
    end(attempt)
    with pytest.raises(NoRecoveryPoint, match="the newest, of step 200, is complete") as refusal:
        newest(attempt.run)
    assert "try again in a moment" in refusal.value.hint


def test_an_async_save_that_was_killed_is_never_taken():
    """CKPT-06: killed at 55 percent; the run goes on from the save before."""
    attempt = make_attempt()
    good = make_checkpoint(attempt=attempt, step=500)
    writing = save(attempt, 1000, "writing", kind="snapshot")
    assert writing.state == "writing"
    end(attempt)
    assert newest(attempt.run) == good.pk


def test_a_fork_begins_from_its_origin_until_it_has_saves_of_its_own():
    origin = make_checkpoint(step=300)
    fork = make_run(
        project=origin.run.project,
        config=origin.run.config,
        forked_from_checkpoint=origin.pk,
        parent=origin.run,
    )
    assert newest(fork) == origin.pk
    first = make_attempt(run=fork)
    begin(first, origin)
    end(first)
    assert newest(fork) == origin.pk
    second = make_attempt(run=fork)
    begin(second, origin)
    own = make_checkpoint(attempt=second, step=320)
    end(second)
    assert newest(fork) == own.pk


def test_a_fork_whose_origin_rotted_is_refused_and_not_started_afresh():
    origin = make_checkpoint(step=300, state="damaged")
    fork = make_run(forked_from_checkpoint=origin.pk)
    with pytest.raises(NoRecoveryPoint, match="which is damaged"):
        newest(fork)


def test_no_attempt_begins_from_a_damaged_one():
    damaged = make_checkpoint(state="damaged")
    end(damaged.attempt)
    attempt = make_attempt(run=damaged.run)
    with pytest.raises(Conflict, match="no run may begin from it"):
        begin(attempt, damaged)


def test_a_start_is_recorded_once_and_for_good():
    checkpoint = make_checkpoint()
    attempt = make_attempt()
    begin(attempt, checkpoint)
    begin(attempt, checkpoint)
    assert StartedFrom.objects.count() == 1
    with pytest.raises(Conflict, match="began from checkpoint"):
        begin(attempt, make_checkpoint())


def test_resuming_a_run_records_where_the_attempt_began():
    checkpoint = make_checkpoint()
    end(checkpoint.attempt)
    user = make_user(Role.OPERATOR, checkpoint.run.project)
    attempt = runs.request_resume(run=checkpoint.run, user=user)
    assert attempt.start_checkpoint == recovery.facts_of(checkpoint)
    assert attempt.started_from.checkpoint_id == checkpoint.pk


def test_a_fork_through_the_services_of_runs_records_its_origin():
    origin = make_checkpoint()
    run = origin.run
    user = make_user(Role.OPERATOR, run.project)
    start = resume_points.find(origin.pk, project_id=run.project_id)
    fork = runs.create_run(
        user=user, project=run.project, config=run.config, parent=run, from_checkpoint=start
    )
    attempt = runs.request_launch(run=fork, user=user)
    assert attempt.started_from.checkpoint_id == origin.pk
    assert save(attempt, 110).parent_id == origin.pk


def test_a_checkpoint_of_another_project_or_without_proof_is_not_found_for_a_fork():
    complete = save(make_attempt(), 100)
    with pytest.raises(NotFound):
        resume_points.find(complete.pk, project_id=make_run().project_id)
    with pytest.raises(Conflict, match="is complete: no run may begin from it"):
        resume_points.find(complete.pk, project_id=complete.run.project_id)
