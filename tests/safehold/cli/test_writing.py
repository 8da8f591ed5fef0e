"""Files that a command writes: whole, and never in the place of what is no file."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from safehold.cli.output import CannotRun
from safehold.cli.writing import write_whole


def test_a_file_is_replaced_once_all_parts_have_come(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_text("before")

    def parts() -> Iterator[bytes]:
        yield b"one"
        assert path.read_text() == "before"
        yield b"two"

    assert write_whole(path, parts()) == 6
    assert (path.read_text(), os.listdir(tmp_path)) == ("onetwo", ["a"])


def test_a_link_is_written_through_and_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "target")
    assert write_whole(tmp_path / "link", [b"new"]) == 3
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "target").read_text() == "new"


def test_a_pipe_is_written_into(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    reader = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    assert write_whole(tmp_path / "pipe", [b"new"]) == 3
    assert (os.read(reader, 9), (tmp_path / "pipe").is_fifo()) == (b"new", True)
    os.close(reader)


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(CannotRun, match="Is a directory"):
        write_whole(tmp_path, [b"new"])
