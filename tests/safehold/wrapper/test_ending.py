from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from safehold.statusfile import keep_room, write_json, write_status
from safehold.wrapper.ending import MOST_BYTES, describe_end, write_end
from safehold.wrapper.tail import Tail, summary


def rank(folder: Path, number: int, **changes: Any) -> None:
    record = {"v": 1, "rank": number, "pid": 1, "started_at": "2026-01-01", "error": None}
    record |= {"ended_at": f"2026-01-02T{number:02d}", "exit_code": 0, "signal": None}
    write_json(folder / "ranks" / f"{number}.json", record | changes)


def end(folder: Path, num_ranks: int, root_code: int = 0) -> dict[str, Any]:
    return describe_end(
        folder,
        started_at="a",
        ended_at="b",
        root_code=root_code,
        num_ranks=num_ranks,
        asked_signal=None,
    )


def test_all_ranks_must_have_ended_well(tmp_path: Path) -> None:
    rank(tmp_path, 0)
    assert end(tmp_path, 1)["outcome"] == "finished"
    assert end(tmp_path, 2)["outcome"] == "failed"
    assert end(tmp_path, 1, root_code=1)["outcome"] == "failed"


def test_saved_and_stopped_counts_whatever_the_exit_code_became(tmp_path: Path) -> None:
    for number in range(2):
        rank(tmp_path, number, exit_code=None, signal=9)
        write_status(tmp_path, number, "stopped")
    assert end(tmp_path, 2, root_code=1)["outcome"] == "stopped"
    write_status(tmp_path, 1, "paused")
    assert end(tmp_path, 2, root_code=1)["outcome"] == "failed"


def test_the_cause_is_the_first_failure_that_torchrun_did_not_make(tmp_path: Path) -> None:
    rank(tmp_path, 0, exit_code=None, signal=15)
    rank(tmp_path, 1, exit_code=3, error="x\nRuntimeError: CUDA out of memory\n")
    rank(tmp_path, 2, exit_code=None, signal=9)
    assert end(tmp_path, 3, 1)["message"] == (
        "Rank 1 ended with exit code 3: RuntimeError: CUDA out of memory"
    )


def test_a_rank_whose_shim_was_killed_is_told(tmp_path: Path) -> None:
    rank(tmp_path, 0, exit_code=None, ended_at=None)
    assert end(tmp_path, 1, -9)["message"].startswith(
        "Rank 0 was killed with its shim; the ranks ended with SIGKILL"
    )


def test_no_rank_at_all_points_to_the_log(tmp_path: Path) -> None:
    assert "see the wrapper's log" in end(tmp_path, 1, 1)["message"]


@pytest.mark.parametrize("num_ranks", [1, 8, 64, 512])
def test_the_document_always_fits_a_termination_message(tmp_path: Path, num_ranks: int) -> None:
    for number in range(num_ranks):
        rank(tmp_path, number, exit_code=1, error="误差" * 3000)
    document = end(tmp_path, num_ranks, 1)
    assert len(json.dumps(document, ensure_ascii=False).encode()) <= MOST_BYTES
    assert document["ranks"]
    assert document["message"].startswith("Rank 0 ended with exit code 1")


def test_the_last_traceback_is_the_error() -> None:
    tail = Tail()
    tail.feed(b"step 1\nTraceback (most recent call last):\n  old\nKeyError: 1\nstep 2\n")
    tail.feed(b"Traceback (most recent call last):\n  File x\nValue")
    tail.feed(b"Error: new\n")
    assert tail.error() == "Traceback (most recent call last):\n  File x\nValueError: new"
    assert summary(tail.error()) == "ValueError: new"


def test_without_a_traceback_the_last_lines_are() -> None:
    tail = Tail()
    tail.feed("".join(f"line {i}\n" for i in range(1000)).encode() + b"\xff tail")
    assert tail.error().splitlines()[0] == "line 993"
    assert tail.error().endswith("\ufffd tail")
    assert len(tail.error(most=20)) == 20


def test_a_record_that_cannot_be_written_keeps_the_message_of_the_pod_from_nobody(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    rank(tmp_path, 0)
    (tmp_path / "exit.json").mkdir()
    told = tmp_path / "termination-log"
    environ = {"SAFEHOLD_POD": "pod-0", "SAFEHOLD_TERMINATION_LOG": str(told)}
    write_end(tmp_path, "exit.json", end(tmp_path, 1), environ)
    assert json.loads(told.read_text())["outcome"] == "finished"
    assert "exit.json could not be written" in capfd.readouterr().err


@pytest.mark.parametrize("kept", [True, False])
def test_a_full_disk_gives_the_room_that_was_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kept: bool
) -> None:
    path = tmp_path / "ranks" / "0.json"
    write_json(path, {"ended_at": None})
    if kept:
        keep_room(path)

    def full(where: Path, content: bytes) -> None:
        if sum(p.stat().st_size for p in path.parent.iterdir()) + len(content) > 8192:
            raise OSError(28, "No space left on device")
        where.write_bytes(content)

    (path.parent / "log").write_bytes(bytes(0 if kept else 9000))
    monkeypatch.setattr("safehold.statusfile._write", full)
    for code in (0, 1):
        if kept:
            write_json(path, {"exit_code": code})
            assert json.loads(path.read_bytes()) == {"exit_code": code}
        else:
            with pytest.raises(OSError, match="No space"):
                write_json(path, {"exit_code": code})
            assert json.loads(path.read_bytes()) == {"ended_at": None}
