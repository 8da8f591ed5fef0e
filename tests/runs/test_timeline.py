from typing import Any

from runs.models import Event
from runs.timeline import folded


def event(pk: int, kind: str = "checkpoint", attempt: int = 1, **data: Any) -> Event:
    return Event(pk=pk, attempt_id=attempt, kind=kind, message=f"event {pk}", data=data)


def test_all_that_is_told_of_one_checkpoint_stands_in_one_line() -> None:
    told = [
        event(9, step=200),
        event(8, kind="save"),
        event(7, step=200),
        event(6, step=100),
        event(5, step=200),
    ]
    lines = folded(told)
    assert [(line.event.pk, [one.pk for one in line.earlier]) for line in lines] == [
        (9, [7, 5]),
        (8, []),
        (6, []),
    ]


def test_the_same_step_of_another_attempt_is_another_checkpoint() -> None:
    assert len(folded([event(2, step=200, attempt=2), event(1, step=200)])) == 2


def test_other_events_and_checkpoints_without_a_step_stand_alone() -> None:
    assert (
        len(folded([event(3, kind="message", step=1), event(2, kind="message", step=1), event(1)]))
        == 3
    )
