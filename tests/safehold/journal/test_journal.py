from __future__ import annotations

import errno
import logging
import os
import resource
import signal
import struct
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from safehold.journal import Journal, Reader, claim, message, pack_record, to_batch
from safehold.journal.frames import HEAD_BYTES, MAGIC, segments


def point(step: int, value: float = 1.0, size: int = 0) -> bytes:
    return pack_record(
        step=step,
        tokens=step * 10,
        at_ms=step,
        names="loss",
        values=struct.pack("<d", value),
        kind="message" if size else None,
        data={"text": "x" * size} if size else None,
    )


@contextmanager
def files_of_at_most(size_bytes: int) -> Iterator[None]:
    """Have the kernel refuse more, as a full disk does: a write ends half-way, the next one fails."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    old = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size_bytes, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, old)


def open_files() -> set[str]:
    found = set()
    for name in os.listdir("/proc/self/fd"):
        try:
            found.add(os.readlink(f"/proc/self/fd/{name}"))
        except OSError:
            continue
    return found


def read_all(reader: Reader, **limits: int) -> list[bytes]:
    records: list[bytes] = []
    while True:
        piece = reader.read(**limits)
        assert piece.first_seq == reader.next_seq - len(piece.records)
        if not piece.records:
            return records
        records += piece.records


@pytest.fixture
def journal(tmp_path: Path) -> Iterator[Journal]:
    made = Journal(tmp_path, 0, segment_bytes=2000)
    yield made
    made.close()


def test_what_was_appended_is_read_in_order_across_segments(journal: Journal) -> None:
    records = [point(step) for step in range(500)]
    assert [journal.append(record) for record in records] == list(range(1, 501))
    assert len(segments(journal.folder)) > 10
    assert read_all(Reader(journal.folder), most=7) == records


def test_a_reader_follows_the_writer(journal: Journal) -> None:
    reader = Reader(journal.folder)
    assert reader.read().records == []
    for step in range(300):
        journal.append(point(step))
        assert reader.read().records == [point(step)]
        assert reader.read().records == []


@given(st.lists(st.integers(0, 3000), max_size=30), st.integers(0, 40), st.integers(100, 5000))
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_place_can_be_sought(
    tmp_path_factory: pytest.TempPathFactory, sizes: list[int], after: int, most_bytes: int
) -> None:
    journal = Journal(tmp_path_factory.mktemp("journal"), 3, segment_bytes=4000)
    records = [point(i, size=size) for i, size in enumerate(sizes)]
    for record in records:
        journal.append(record)
    journal.sync()
    reader = Reader(journal.folder)
    reader.seek(after)
    assert read_all(reader, most_bytes=most_bytes) == records[after:]
    journal.close()


@given(st.lists(st.integers(0, 300), min_size=1, max_size=12), st.data())
@settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_tail_torn_at_any_byte_costs_only_the_torn_record(
    tmp_path_factory: pytest.TempPathFactory, sizes: list[int], data: st.DataObject
) -> None:
    journal = Journal(tmp_path_factory.mktemp("journal"), 0)
    records = [point(i, size=size) for i, size in enumerate(sizes)]
    ends = [len(MAGIC)]
    for record in records:
        journal.append(record)
        ends.append(ends[-1] + HEAD_BYTES + len(record))
    path = segments(journal.folder)[0][1]
    cut = data.draw(st.integers(len(MAGIC), ends[-1]))
    os.truncate(path, cut)
    garbage = data.draw(st.binary(max_size=40))
    path.write_bytes(path.read_bytes() + garbage)
    whole = sum(1 for end in ends[1:] if end <= cut)
    reader = Reader(journal.folder)
    assert read_all(reader) == records[:whole]
    assert reader.left_bytes() == cut + len(garbage) - ends[whole]
    journal.close()


def test_zeros_at_the_end_are_no_record(tmp_path: Path) -> None:
    """As a loss of power leaves them: the file has its length, its last blocks were never written."""
    journal = Journal(tmp_path, 0)
    journal.append(point(1))
    path = segments(journal.folder)[0][1]
    path.write_bytes(path.read_bytes() + bytes(4096))
    reader = Reader(journal.folder)
    assert read_all(reader) == [point(1)]
    assert reader.left_bytes() == 4096
    journal.close()


def test_damage_within_is_counted_and_the_numbers_go_on(journal: Journal) -> None:
    records = [point(step) for step in range(100)]
    for record in records:
        journal.append(record)
    first, second = (path for _, path in segments(journal.folder)[:2])
    in_first = segments(journal.folder)[1][0] - 1
    damaged = bytearray(first.read_bytes())
    damaged[len(MAGIC) + HEAD_BYTES + 3] ^= 1
    first.write_bytes(damaged)
    read = read_all(Reader(journal.folder))
    assert len(read) == 100
    assert read[in_first:] == records[in_first:]
    batch = to_batch(0, journal.id, 1, read)
    assert f"{in_first} records of rank 0 from 1 on are lost" in batch.events[0].data["text"]
    assert second.exists()


def test_acknowledged_segments_are_deleted_and_the_rest_kept(journal: Journal) -> None:
    for step in range(300):
        journal.append(point(step))
    before = segments(journal.folder)
    journal.forget(150)
    left = segments(journal.folder)
    assert len(left) < len(before)
    assert left[0][0] <= 151
    reader = Reader(journal.folder)
    reader.seek(150)
    assert len(read_all(reader)) == 150


def test_a_journal_that_is_all_stored_leaves_nothing(tmp_path: Path) -> None:
    journal = Journal(tmp_path, 0)
    journal.append(point(1))
    journal.close(acked=1)
    assert list(tmp_path.iterdir()) == []


def test_a_full_journal_drops_counts_and_tells_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    journal = Journal(tmp_path, 0, limit_bytes=4000, segment_bytes=1000)
    numbers = [journal.append(point(step)) for step in range(200)]
    num_dropped = numbers.count(0)
    assert journal.num_dropped == num_dropped > 90
    assert [r.message for r in caplog.records] == ["journal.record_dropped"]
    assert journal.append(message({"text": "saved"}), event=True)
    journal.forget(journal.last_seq)
    assert journal.append(point(1000)) == journal.last_seq
    journal.forget(journal.last_seq)
    read = to_batch(0, journal.id, 1, read_all(Reader(journal.folder)))
    told = [event.data for event in read.events if "dropped" in event.data]
    assert [data["dropped"] for data in told] == [num_dropped]
    assert "limit of the journal is reached" in told[0]["text"]
    journal.close()


def test_a_full_disk_neither_raises_nor_damages_what_is_there(tmp_path: Path) -> None:
    journal = Journal(tmp_path, 0)
    journal.append(point(0))
    with files_of_at_most(500):
        numbers = [journal.append(point(step)) for step in range(1, 50)]
    assert 0 in numbers
    assert journal.append(point(99)) > 0
    read = to_batch(0, journal.id, 1, read_all(Reader(journal.folder)))
    kept = [step for step, number in zip(range(1, 50), numbers, strict=True) if number]
    assert read.steps.tolist() == [0, *kept, -1, 99]
    journal.close()


def test_a_failed_write_that_cannot_be_undone_is_written_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.EIO, "Input/output error")

    journal = Journal(tmp_path, 0)
    journal.append(point(0))
    with files_of_at_most(120), monkeypatch.context() as patch:
        patch.setattr(os, "ftruncate", refuse)
        while journal.append(point(1, size=30)):
            pass
    journal.append(point(2))
    read = to_batch(0, journal.id, 1, read_all(Reader(journal.folder)))
    assert read.steps.tolist()[0] == 0
    assert read.steps.tolist()[-1] == 2
    assert read.n == journal.last_seq
    journal.close()


def test_who_handles_the_logs_may_write_to_the_journal(tmp_path: Path) -> None:
    journal = Journal(tmp_path, 0, limit_bytes=100)

    class Handler(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            journal.append(message({"text": record.getMessage()}), event=True)

    handler = Handler()
    logging.getLogger("safehold.journal.writer").addHandler(handler)
    try:
        thread = threading.Thread(target=journal.append, args=(point(1, size=200),), daemon=True)
        thread.start()
        thread.join(5)
        assert not thread.is_alive()
    finally:
        logging.getLogger("safehold.journal.writer").removeHandler(handler)
    texts = [e.data["text"] for e in to_batch(0, "", 1, read_all(Reader(journal.folder))).events]
    assert "journal.record_dropped" in texts
    journal.close()


def test_a_loss_of_power_cannot_take_the_folder_of_synced_records(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: set[str] = set()
    fsync = os.fsync

    def noted(file: int) -> None:
        synced.add(os.readlink(f"/proc/self/fd/{file}"))
        fsync(file)

    monkeypatch.setattr(os, "fsync", noted)
    journal = Journal(tmp_path / "attempt" / "journal", 0)
    journal.append(point(1))
    journal.sync()
    assert synced >= {str(p) for p in (journal.folder, *list(journal.folder.parents)[:2])}
    journal.close()


def test_a_sync_that_fails_loses_no_open_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_: int) -> int:
        raise OSError(errno.EMFILE, "Too many open files")

    journal = Journal(tmp_path, 0, segment_bytes=200)
    for step in range(20):
        journal.append(point(step))
    with monkeypatch.context() as patch:
        patch.setattr(os, "dup", refuse)
        with pytest.raises(OSError, match="Too many"):
            journal.sync()
    assert journal.sync() == 20
    inside = [name for name in open_files() if name.startswith(str(journal.folder))]
    assert len(inside) == 2  # the segment that is written, and the lock
    journal.close()


def test_a_file_system_that_keeps_open_files_does_not_make_the_end_raise(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As NFS does: a file that is deleted while it is open lies on under another name."""
    unlink = Path.unlink

    def renamed(path: Path, missing_ok: bool = False) -> None:
        if str(path) in open_files():
            path.rename(path.with_name(".nfs0000000000000001"))
        else:
            unlink(path, missing_ok=missing_ok)

    monkeypatch.setattr(Path, "unlink", renamed)
    journal = Journal(tmp_path, 0)
    journal.append(point(1))
    journal.close(acked=1)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("function", ["unlink", "rmdir", "iterdir"])
def test_a_journal_that_cannot_be_deleted_stays_and_is_told(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    function: str,
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError(errno.EROFS, "Read-only file system")

    journal = Journal(tmp_path, 0)
    journal.append(point(1))
    with monkeypatch.context() as patch:
        patch.setattr(Path, function, refuse)
        journal.close(acked=1)
    assert "journal.not_removed" in [record.message for record in caplog.records]
    assert claim(journal.folder) is not None


def test_a_file_system_without_locks_is_no_obstacle_to_the_writer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr("safehold.journal.claims.fcntl.lockf", refuse)
    journal, other = Journal(tmp_path, 0), Journal(tmp_path, 1)
    journal.append(point(1))
    journal.close(acked=1)
    other.append(point(1))
    other.close()
    assert [path.name for path in tmp_path.iterdir()] == [other.folder.name]
    assert claim(other.folder) is None  # nobody can know whether its writer lives


def test_a_writer_owns_its_journal_until_it_closes(tmp_path: Path) -> None:
    journal = Journal(tmp_path, 0)
    journal.append(point(1))
    assert claim(journal.folder) is None
    probe = (
        "import sys, pathlib; from safehold.journal import claim;"
        "print(claim(pathlib.Path(sys.argv[1])) is not None)"
    )
    command = [sys.executable, "-c", probe, str(journal.folder)]
    assert subprocess.check_output(command, text=True).strip() == "False"
    journal.close()
    assert subprocess.check_output(command, text=True).strip() == "True"
    owned = claim(journal.folder)
    assert owned is not None
    assert claim(journal.folder) is None
    owned.release()


def test_a_forked_copy_writes_nothing(journal: Journal) -> None:
    journal.append(point(1))
    journal.pid += 1  # what a forked child sees: another process id
    assert journal.append(point(2)) == 0
    journal.pid -= 1
    assert journal.append(point(3)) == 2


def test_records_of_many_shapes_become_columns() -> None:
    shapes = [("a\nb", [1.0, 2.0]), ("b", [3.0]), ("", []), ("b\na", [float("nan"), 5.0])]
    records = [
        pack_record(step=i, tokens=-1, at_ms=7, names=names, values=struct.pack(f"<{len(v)}d", *v))
        for i, (names, v) in enumerate(shapes)
    ]
    batch = to_batch(2, "f" * 32, 9, records)
    found = {
        c.name: (c.index.tolist(), c.values.tolist()) for c in batch.columns if c.index is not None
    }
    assert found["a"] == ([0, 3], [1.0, 5.0])
    assert found["b"][0] == [0, 1, 3]
    assert str(found["b"][1]) == "[2.0, 3.0, nan]"


KILLED = """
import sys, os
from pathlib import Path
from safehold.journal import Journal, pack_record
journal = Journal(Path(sys.argv[1]), 0, segment_bytes=3000)
step = 0
while True:
    step += 1
    seq = journal.append(pack_record(step=step, tokens=-1, at_ms=0))
    os.write(1, b"%d\\n" % seq)
"""


def test_nothing_that_was_appended_is_lost_when_the_process_is_killed(tmp_path: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", KILLED, str(tmp_path)], stdout=subprocess.PIPE
    )
    assert process.stdout is not None
    seen = 0
    for line in process.stdout:
        seen = int(line)
        if seen == 2000:
            process.kill()
    process.wait()
    process.stdout.close()
    folder = next(tmp_path.iterdir())
    owned = claim(folder)
    assert owned is not None
    owned.release()
    batch = to_batch(0, "0" * 32, 1, read_all(Reader(folder)))
    assert batch.n >= seen >= 2000
    assert batch.steps.tolist() == list(range(1, batch.n + 1))
