"""Ports, secrets, private directories and the lock of one `up` per home."""

import errno
import os
import socket
import stat
from pathlib import Path

import pytest

from controlplane.service import places, ports, secrets
from controlplane.service.lock import AlreadyRunning, UpLock


@pytest.fixture
def taken_port():
    with socket.socket() as holder:
        holder.bind(("127.0.0.1", 0))
        holder.listen()
        yield holder.getsockname()[1]


def test_a_taken_port_is_named_with_its_holder_and_another_is_offered(taken_port: int):
    with pytest.raises(ports.PortTaken, match=f"Port {taken_port} is taken by .* \\(pid") as told:
        ports.check(taken_port)
    offered = int(told.value.hint.split("PORT=")[1].split()[0])
    assert offered != taken_port
    ports.check(offered)


def test_where_no_next_port_is_free_none_is_offered(monkeypatch: pytest.MonkeyPatch):
    taken = OSError(errno.EADDRINUSE, "Address already in use")
    monkeypatch.setattr(ports, "_trouble", lambda port, host: taken)
    with pytest.raises(ports.PortTaken) as told:
        ports.check(65535)
    assert told.value.hint == "Name another one: PORT=8001 make up"


def test_an_address_of_another_machine_is_no_taken_port():
    with pytest.raises(ports.CannotListen, match="port 8000 of 192.0.2.1: ") as told:
        ports.check(8000, "192.0.2.1")
    assert "SAFEHOLD_BIND" in told.value.hint


def test_a_port_of_root_is_told_as_such(monkeypatch: pytest.MonkeyPatch):
    refused = OSError(errno.EACCES, "Permission denied")
    monkeypatch.setattr(ports, "_trouble", lambda port, host: refused)
    with pytest.raises(ports.CannotListen) as told:
        ports.check(80)
    assert "PORT=8000" in told.value.hint


@pytest.mark.parametrize(
    ("host", "url"),
    [
        ("127.0.0.1", "http://127.0.0.1:80"),
        ("0.0.0.0", "http://127.0.0.1:80"),
        ("10.1.2.3", "http://10.1.2.3:80"),
        ("::1", "http://[::1]:80"),
    ],
)
def test_a_server_is_reached_where_it_listens(host: str, url: str):
    assert ports.url(host, 80) == url


def test_secrets_are_readable_by_their_owner_only(tmp_path: Path):
    path = tmp_path / "token"
    secrets.write_private(path, "one\n")
    secrets.write_private(path, "two\n")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert secrets.read(path) == "two"


def test_the_secret_key_is_made_once(tmp_path: Path):
    secrets.ensure_secret_key(tmp_path)
    first = secrets.read(tmp_path / "secret_key")
    secrets.ensure_secret_key(tmp_path)
    assert secrets.read(tmp_path / "secret_key") == first
    assert len(first) >= 50


def test_a_private_directory_is_closed_to_others(tmp_path: Path):
    (tmp_path / "run").mkdir(mode=0o755)
    places.private_dir(tmp_path / "run")
    assert stat.S_IMODE((tmp_path / "run").stat().st_mode) == 0o700


def test_a_link_is_no_private_directory(tmp_path: Path):
    (tmp_path / "run").symlink_to(tmp_path)
    with pytest.raises(PermissionError, match="is a link"):
        places.private_dir(tmp_path / "run")


@pytest.mark.parametrize("name", ["a,b", "a;b", "50%20", "what?", "#1"])
def test_a_home_whose_name_would_split_an_address_has_its_sockets_elsewhere(name: str):
    assert name not in str(places.socket_dir(Path("/home") / name))


def test_blanks_and_letters_of_any_script_may_stand_in_the_path_of_sockets():
    home = Path("/home/my folder/数据")
    assert places.socket_dir(home) == home / "run"


def test_a_second_up_is_told_address_and_pid(tmp_path: Path):
    with UpLock(tmp_path / "up.lock") as lock:
        lock.tell(url="http://127.0.0.1:8000")
        with pytest.raises(
            AlreadyRunning, match=rf"already running at http://127.0.0.1:8000 \(pid {os.getpid()}\)"
        ) as told:
            UpLock(tmp_path / "up.lock").__enter__()
    assert told.value.extra["url"] == "http://127.0.0.1:8000"


def test_a_second_up_during_the_start_is_told_so(tmp_path: Path):
    with UpLock(tmp_path / "up.lock"), pytest.raises(AlreadyRunning, match="still starting"):
        UpLock(tmp_path / "up.lock").__enter__()


def test_the_lock_is_free_after_its_holder(tmp_path: Path):
    with UpLock(tmp_path / "up.lock"):
        pass
    with UpLock(tmp_path / "up.lock"):
        pass
