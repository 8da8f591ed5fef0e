"""Four ranks save and restore together: each its own random state, all of one opinion."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from safehold.checkpointing import staging
from safehold.checkpointing.verification import verify
from tests.safehold.checkpointing.training import Training, step_folder

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("ranks")
    done = subprocess.run(
        [
            *(sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", "4"),
            *("--rdzv-backend", "c10d", "--rdzv-endpoint", "127.0.0.1:0"),
            *("-m", "tests.safehold.checkpointing.four_ranks", str(folder)),
        ],
        env={**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT)},
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
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
