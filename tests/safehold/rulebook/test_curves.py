import random

from safehold.rulebook.curves import is_saw_tooth, spread_of


def noise(seed: int, scale: float) -> float:
    return random.Random(seed).gauss(0, scale)


def falling(num: int) -> list[float]:
    return [8 * (1 + step / 50) ** -0.3 + noise(step, 0.01) for step in range(num)]


def saw_tooth(num: int, period: int = 25) -> list[float]:
    return [3 + 0.004 * (step % period) + noise(step, 0.0005) for step in range(num)]


def test_a_saw_tooth_is_found_and_a_falling_loss_is_none() -> None:
    assert is_saw_tooth(falling(300) + saw_tooth(300))
    assert not is_saw_tooth(falling(600))
    assert not is_saw_tooth([3.0] * 600)


def test_one_spike_is_no_saw_tooth() -> None:
    losses = falling(600)
    losses[450] += 1
    assert not is_saw_tooth(losses)


def test_the_spread_leaves_spikes_and_holes_out() -> None:
    mean, deviation = spread_of([0.4, 0.6] * 50 + [90.0, float("nan")]) or (0, 0)
    assert (round(mean, 2), round(deviation, 2)) == (0.5, 0.1)
    assert spread_of([0.5] * 10) is None
