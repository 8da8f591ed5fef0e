"""Four ranks save and restore together: each its own random state, all of one opinion."""

import json
import os

import pytest

from safehold.checkpointing import staging
from safehold.checkpointing.verification import verify
from tests.safehold.checkpointing import four_ranks
from tests.safehold.checkpointing.training import Training, step_folder
from tests.safehold.forked_ranks import ForkedRanks


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("ranks")
    output = folder / "output.txt"
    ranks = ForkedRanks(four_ranks.main, folder, num=4, env=os.environ, output=output)
    assert ranks.wait(120) == [0, 0, 0, 0], output.read_text()
    return folder


@pytest.fixture(scope="module")
def told(folder):
    return [json.loads((folder / f"told-{rank}.json").read_text()) for rank in range(4)]


def test_every_rank_draws_next_what_it_would_have_drawn(told):
    assert [item["restored"] for item in told] == [item["next"] for item in told]
    assert len({item["next"] for item in told}) == 4
    assert all(item["notes"] == [] for item in told)


def test_error_on_one_rank_is_raised_on_all_and_told_once(told, folder):
    assert all("rank 2: " in item["failed"] for item in told)
    assert all("No space left" in item["failed"] for item in told)
    assert [item["registered"] for item in told] == [
        ["writing", "complete", "writing", "failed"], [], [], []
    ]  # fmt: skip
    names = [path.name for path in step_folder(folder, 5).parent.iterdir()]
    assert sorted(name for name in names if not staging.is_garbage(name)) == ["step-5"]


def test_a_checkpoint_that_one_rank_cannot_see_stops_all(told):
    for said in zip(*(item["unseen"] for item in told), strict=True):
        assert len(set(said)) == 1
        assert said[0].startswith("rank 1: ")
        assert "not-mounted" in said[0]


def test_damage_that_one_rank_finds_stops_all(told):
    assert len({item["refused"] for item in told}) == 1
    assert "rng-00003.json" in told[0]["refused"]


def test_another_number_of_ranks_says_what_is_not_exact(folder, tmp_path):
    path = step_folder(folder, 5) / "rng-00003.json"
    path.write_bytes(path.read_bytes() + b"}")
    assert verify(step_folder(folder, 5)).verdict != "fail"
    alone = Training(tmp_path, attempt="4", resume_from=step_folder(folder, 5))
    notes = alone.checkpointer.restore_or_start().notes
    assert any("world.size (saved 4, now 1)" in note for note in notes)
    assert any("keeps a fresh random state" in note for note in notes)


def test_a_state_that_one_rank_cannot_tell_is_an_error_on_all(told):
    said = "rank 1: the place in the data is lost"
    assert [item["uncaptured"] for item in told] == [[said, said]] * 4
