import pytest

from checkpoints.states import MOVES, SAVED, USABLE, State, after_verification, may_move


def test_every_state_has_its_moves():
    assert set(MOVES) == set(State)


def test_nothing_returns_to_the_writer_once_it_is_complete():
    for state in SAVED:
        assert not MOVES[state] & {State.WRITING, State.COMPLETE, State.FAILED}


def test_only_a_verification_makes_a_recovery_point():
    assert not may_move(State.WRITING, State.VERIFIED)
    assert not may_move(State.COMPLETE, State.STABLE)
    assert {old for old in State if MOVES[old] & {State.STABLE}} == {State.VERIFIED}


@pytest.mark.parametrize("old", sorted(SAVED))
def test_a_failed_verification_damages_every_state(old: State):
    assert after_verification(old, is_whole=False) is State.DAMAGED


def test_a_passed_verification_keeps_what_is_proved_already():
    for old in USABLE:
        assert after_verification(old, is_whole=True) is old
    assert after_verification(State.COMPLETE, is_whole=True) is State.VERIFIED
    assert after_verification(State.DAMAGED, is_whole=True) is State.VERIFIED
