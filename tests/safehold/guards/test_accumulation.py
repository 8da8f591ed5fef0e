import pytest

from safehold.guards.accumulation import Accumulation


def of(**train: object) -> Accumulation:
    made = Accumulation({"train": {"accumulation": 4} | train})
    made.begin()
    return made


def test_the_losses_of_a_step_add_up_to_their_mean() -> None:
    made = of()
    assert sum(made.scaled(loss) for loss in (1.0, 2.0, 3.0, 4.0)) == 2.5
    made.updated()


@pytest.mark.parametrize(
    ("train", "words"),
    [({"divide_loss": False}, "train.divide_loss"), ({"clip_at": "micro_batch"}, "train.clip_at")],
)
def test_what_is_declared_wrong_is_refused_before_the_first_step(train: dict, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        of(**train).require_declared()
    of(accumulation=1, **train).require_declared()


def test_one_micro_batch_too_many_or_too_few_is_refused() -> None:
    made = of()
    made.scaled(1.0)
    with pytest.raises(ValueError, match="Only 1 of 4"):
        made.updated()
    made.begin()
    for _ in range(4):
        made.scaled(1.0)
    with pytest.raises(ValueError, match="micro-batch 5"):
        made.scaled(1.0)


def test_clipping_twice_in_a_step_is_refused() -> None:
    made = of()
    made.updated()
    with pytest.raises(ValueError, match="called twice in one step"):
        made.updated()


def test_a_loop_of_its_own_is_taken_at_its_word() -> None:
    made = Accumulation({"train": {"accumulation": 4}})
    for _ in range(9):
        made.updated()
    assert made.scaled(8.0) == 2.0
    assert Accumulation({}).scaled(8.0) == 8.0
