"""A few seeds of bench/launch_exactly_once.py: workers die between any two lines, and it happens once."""

import pytest

from bench.launching.scenarios import play

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.mark.parametrize("seed", range(3))
def test_launching_stopping_and_resuming_happen_once_whoever_dies(seed: int):
    result = play("workers", seed)
    assert (result.duplicates, result.lost, result.orphans) == (0, 0, 0), result
    assert result.kills > 5, result
    assert result.seconds is not None, result
    assert result.seconds <= 30, result


@pytest.mark.parametrize(("kind", "promised"), [("pod", 30), ("node", 90)])
def test_the_truth_is_told_in_time(kind: str, promised: int):
    result = play(kind, 0)
    assert (result.duplicates, result.lost, result.orphans) == (0, 0, 0), result
    assert result.seconds is not None, result
    assert result.seconds <= promised, result
