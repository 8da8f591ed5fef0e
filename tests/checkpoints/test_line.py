from hypothesis import given
from hypothesis import strategies as st

from checkpoints.line import Point, Start, choose


def point(id: int, attempt: int, step: int, *, stable: bool = False) -> Point:
    return Point(id=id, attempt=attempt, step=step, is_stable=stable)


def pick(points, *, newest=1, starts=None, stable=True):
    return choose(points, newest_attempt=newest, starts=starts or {}, prefer_stable=stable)


def test_steps_are_compared_as_numbers():
    points = [point(i, 1, step) for i, step in enumerate([10000, 9900, 9000, 9800], start=1)]
    assert pick(points) == 1


def test_an_older_stable_one_comes_before_a_newer_verified_one():
    points = [point(1, 1, 100, stable=True), point(2, 1, 200)]
    assert pick(points) == 1
    assert pick(points, stable=False) == 2


def test_what_a_person_went_back_from_is_not_on_the_line_any_more():
    points = [point(1, 1, 500), point(2, 1, 1000, stable=True), point(3, 2, 700)]
    back = {2: Start(checkpoint_id=1, step=500, attempt=1)}
    assert pick(points, newest=2, starts=back) == 3


def test_an_attempt_that_saved_nothing_goes_on_where_it_began():
    points = [point(1, 1, 500), point(2, 1, 1000)]
    back = {2: Start(checkpoint_id=1, step=500, attempt=1)}
    assert pick(points, newest=2, starts=back) == 1


def test_a_fresh_start_that_saved_nothing_falls_back_to_the_attempt_before():
    assert pick([point(1, 1, 500)], newest=2) == 1


def test_a_fresh_start_that_saved_is_a_line_of_its_own():
    points = [point(1, 1, 500, stable=True), point(2, 2, 50)]
    assert pick(points, newest=2) == 2


def test_a_fork_that_saved_nothing_begins_from_its_origin_again():
    origin = {1: Start(checkpoint_id=77, step=300)}
    assert pick([], starts=origin) == 77
    assert pick([point(1, 1, 350)], starts=origin) == 1


def test_there_may_be_nothing():
    assert pick([], newest=3) is None


@given(st.data())
def test_the_choice_is_a_recovery_point_or_an_origin_and_always_ends(data):
    newest = data.draw(st.integers(1, 6))
    numbers = st.integers(1, newest)
    points = [
        point(i, data.draw(numbers), data.draw(st.integers(0, 50)), stable=data.draw(st.booleans()))
        for i in range(1, data.draw(st.integers(0, 8)) + 1)
    ]
    start = st.builds(
        Start, checkpoint_id=st.just(99), step=st.integers(0, 50), attempt=st.none() | numbers
    )
    starts = data.draw(st.dictionaries(numbers, start))
    chosen = pick(points, newest=newest, starts=starts, stable=data.draw(st.booleans()))
    assert chosen in {None, 99} | {item.id for item in points}
    if points and not starts:
        assert chosen not in {None, 99}
