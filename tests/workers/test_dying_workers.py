"""A worker may die around any action."""

from collections.abc import Callable

import pytest

from controlplane.common.models import User
from runs.models import Run
from runs.services import runs
from tests.workers.reporting import Killed, beat, launched, newest
from tests.workers.scripted import Scripted
from workers import acting, passes
from workers.tasks.reconcile import sweep


def a_whole_story(scripted: Scripted) -> tuple[Run, User]:
    """Launch, train, stop, resume, finish; sweeps see to all of it."""
    run, user = launched()
    steps: list[Callable[[], None]] = [
        lambda: beat(newest(run)),
        lambda: runs.request_stop(run=run, user=user),
        lambda: scripted.exit(newest(run).name, "stopped"),
        lambda: runs.request_resume(run=run, user=user) and None,
        lambda: beat(newest(run)),
        lambda: scripted.exit(newest(run).name, "finished"),
    ]
    for step in steps:
        for _ in range(2):
            try:
                sweep()
            except Killed:
                continue
        step()
    for _ in range(3):
        try:
            sweep()
        except Killed:
            continue
    return run, user


@pytest.mark.django_db
@pytest.mark.parametrize("is_done", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("number", range(14))
def test_worker_may_die_around_any_action(
    scripted: Scripted, monkeypatch: pytest.MonkeyPatch, number: int, is_done: bool
):
    """CEL-03: what it was doing is found again and finished, once."""
    count = 0

    def carry_out(action, scene) -> None:
        nonlocal count
        count += 1
        is_last = count == number + 1
        if is_done or not is_last:
            acting.carry_out(action, scene)
        if is_last:
            raise Killed

    monkeypatch.setattr(passes, "carry_out", carry_out)

    run, _ = a_whole_story(scripted)

    assert count > number, "the story has fewer actions by now; lower the range"
    outcomes = list(run.attempts.order_by("number").values_list("outcome", flat=True))
    assert outcomes == ["stopped", "finished"]
    assert set(scripted.starts.values()) == {1}
    run.refresh_from_db()
    assert not run.needs_reconcile
