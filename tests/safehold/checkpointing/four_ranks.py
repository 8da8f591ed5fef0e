"""What four ranks do in `test_ranks.py`, all at once."""

import json
from pathlib import Path

import torch
from torch import distributed

from safehold.checkpointing import staging, writer
from safehold.checkpointing.errors import RestoreError, SaveError
from tests.safehold.checkpointing.training import Training, step_folder

DRAWS = (10, 13, 10, 21)


def main(folder: Path) -> None:
    distributed.init_process_group("gloo")
    rank = distributed.get_rank()
    told: dict[str, object] = {}
    training = Training(folder)
    torch.manual_seed(100 + rank)
    torch.rand(DRAWS[rank])
    training.checkpointer.save(5)
    told["next"] = torch.rand(1).item()

    again = Training(folder, attempt="2", resume_from=step_folder(folder, 5))
    told["notes"] = again.checkpointer.restore_or_start().notes
    told["restored"] = torch.rand(1).item()

    told["failed"] = save_while_rank_2_fails(training, rank)
    told["registered"] = training.host.states
    told["uncaptured"] = save_while_rank_1_cannot_tell_its_place(folder, rank)
    told["unseen"] = [
        start_where_rank_1_sees_nothing(folder, rank, start)
        for start in ("resume_from", "weights_from")
    ]
    told["refused"] = resume_while_a_file_is_damaged(folder, rank)
    (folder / f"told-{rank}.json").write_text(json.dumps(told))
    distributed.barrier()
    distributed.destroy_process_group()


def save_while_rank_2_fails(training: Training, rank: int) -> str:
    def full(*args):
        raise OSError(28, "No space left on device")

    write_file = staging.write_file
    if rank == 2:
        writer.staging.write_file = full
    try:
        training.checkpointer.save(6)
    except SaveError as error:
        return str(error)
    finally:
        writer.staging.write_file = write_file
    return ""


def save_while_rank_1_cannot_tell_its_place(folder: Path, rank: int) -> list[str]:
    def lost():
        raise RuntimeError("the place in the data is lost")

    training = Training(folder, attempt="6")
    if rank == 1:
        training.sampler.state_dict = lost
    said = []
    for kind in ("anchor", "snapshot"):
        try:
            training.checkpointer.save(5, kind=kind)
        except SaveError as error:
            said.append(str(error))
    return said


def start_where_rank_1_sees_nothing(folder: Path, rank: int, start: str) -> str:
    place = folder / "not-mounted" if rank == 1 else step_folder(folder, 5)
    try:
        Training(folder, attempt="5", **{start: place}).checkpointer.restore_or_start()
    except RestoreError as error:
        return str(error)
    return ""


def resume_while_a_file_is_damaged(folder: Path, rank: int) -> str:
    path = step_folder(folder, 5) / "rng-00003.json"
    if rank == 0:
        path.write_bytes(path.read_bytes()[:-1])
    distributed.barrier()
    damaged = Training(folder, attempt="3", resume_from=step_folder(folder, 5))
    try:
        damaged.checkpointer.restore_or_start()
    except RestoreError as error:
        return str(error)
    return ""
