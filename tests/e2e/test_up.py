"""`safehold up` as a person meets it: one command, clean ends, honest answers."""

import os
import pwd
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import psutil
import pytest

from controlplane.service import children
from tests.fakes.kube import FakeCluster
from tests.live_service import free_port
from tests.waiting import wait_until

pytestmark = [pytest.mark.e2e, pytest.mark.slow(42)]
ROOT = Path(__file__).resolve().parents[2]


class Up:
    """One `safehold up --no-demo` with a home of its own, its words in a file."""

    def __init__(self, home: Path, port: int, become: Callable[[], None] | None = None) -> None:
        self.home, self.port, self.become = home, port, become
        self.output = home.parent / "up.out"
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> "Up":
        with self.output.open("wb") as output:
            self.process = subprocess.Popen(
                self.command, env=self.env, stdout=output, stderr=subprocess.STDOUT, cwd=ROOT,
                preexec_fn=self.become,
            )  # fmt: skip
        wait_until(self._is_up, 120, self.words)
        return self

    def _is_up(self) -> bool:
        assert self.process.poll() is None, self.words()
        return "Safehold runs at" in self.words()

    @property
    def command(self) -> list[str]:
        safehold = str(Path(sys.executable).with_name("safehold"))
        return [safehold, "up", "--no-demo", "--port", str(self.port)]

    @property
    def env(self) -> dict[str, str]:
        ours = ("SAFEHOLD_", "DATABASE_URL", "REDIS_URL", "DJANGO_")
        kept = {key: value for key, value in os.environ.items() if not key.startswith(ours)}
        return kept | {"SAFEHOLD_HOME": str(self.home), "PYTHONDONTWRITEBYTECODE": "1"}

    def words(self) -> str:
        return self.output.read_text()

    def again(self, port: int) -> subprocess.CompletedProcess[str]:
        command = [*self.command[:-1], str(port)]
        return subprocess.run(command, env=self.env, cwd=ROOT, capture_output=True, text=True)

    def descendants(self) -> list[psutil.Process]:
        return psutil.Process(self.process.pid).children(recursive=True)

    def readiness(self) -> int:
        try:
            return httpx.get(f"http://127.0.0.1:{self.port}/readyz", timeout=10).status_code
        except httpx.TransportError:
            return 0


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FakeCluster]:
    """A cluster that KUBECONFIG names."""
    fake = FakeCluster(nodes=1, gpus=1).start()
    with pytest.MonkeyPatch.context() as patch:
        path = fake.kubeconfig(tmp_path_factory.mktemp("cluster") / "kubeconfig")
        patch.setenv("KUBECONFIG", str(path))
        yield fake
    fake.stop()


@pytest.fixture(scope="module")
def up(tmp_path_factory: pytest.TempPathFactory, cluster: FakeCluster) -> Iterator[Up]:
    """The service that the tests below live through, from its first start to its clean end."""
    service = Up(tmp_path_factory.mktemp("up") / "home", free_port()).start()
    yield service
    service.process.kill()
    service.process.wait()


def test_the_first_start_gives_address_and_passwords(up: Up) -> None:
    assert up.readiness() == 200
    assert f"http://127.0.0.1:{up.port}" in up.words()
    assert len(re.findall(r"sign in as \w+ +password \S+", up.words())) == 3


def test_the_cluster_of_kubeconfig_is_registered_and_followed(up: Up, cluster: FakeCluster) -> None:
    assert "cluster fake is registered from KUBECONFIG" in up.words()
    log = up.home / "logs" / "watcher.log"
    wait_until(
        lambda: any(request.query.get("watch") for request in cluster.server.requests),
        60, lambda: f"nobody watches: {log.read_text()[-2000:]}",
    )  # fmt: skip


def test_a_second_up_says_so_and_a_taken_port_is_named(up: Up, tmp_path: Path) -> None:
    second = up.again(free_port())
    assert second.returncode == 0
    assert f"already running at http://127.0.0.1:{up.port}" in second.stdout
    elsewhere = Up(tmp_path / "other", up.port).again(up.port)
    assert elsewhere.returncode == 2
    assert f"Port {up.port} is taken" in elsewhere.stderr
    assert "PORT=" in elsewhere.stderr


def test_killed_children_come_back(up: Up) -> None:
    ours = "controlplane.service"
    for marker in (f"{ours}.tasks", "postgres", "valkey-server", f"{ours}.web"):
        for child in psutil.Process(up.process.pid).children():
            if marker in " ".join(child.cmdline()):
                child.kill()
                wait_until(lambda child=child: not child.is_running(), 10)
    wait_until(lambda: up.words().count("was started again") >= 5, 60, up.words)
    wait_until(lambda: up.readiness() == 200, 60, up.words)


def test_a_killed_up_leaves_no_server_and_starts_again(up: Up) -> None:
    left = up.descendants()
    up.process.kill()
    up.process.wait()
    wait_until(lambda: not [p for p in left if is_alive(p)], 60, lambda: str(left))
    up.start()
    assert up.readiness() == 200
    assert "sign in as" not in up.words()
    assert str(up.home / "credentials") in up.words()


def test_an_interrupt_ends_it_cleanly(up: Up) -> None:
    left = up.descendants()
    up.process.send_signal(signal.SIGINT)
    assert up.process.wait(60) == 0
    assert up.words().endswith("Stopped.\n")
    assert not [p for p in left if is_alive(p)]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_it_works_as_an_ordinary_user(tmp_path_factory: pytest.TempPathFactory):
    place = tmp_path_factory.mktemp("ordinary")
    nobody = pwd.getpwnam("nobody")
    for directory in (place.parent.parent, place.parent):
        directory.chmod(0o711)
    os.chown(place, nobody.pw_uid, nobody.pw_gid)
    # With the right to pass directories: the interpreter itself may lie below /root.
    service = Up(place / "home", free_port(), become=children.drop_root)
    try:
        service.start()
        assert service.readiness() == 200
        assert {p.username() for p in service.descendants()} == {"nobody"}
        service.process.send_signal(signal.SIGINT)
        assert service.process.wait(60) == 0
    finally:
        if service.process is not None:
            service.process.kill()
            service.process.wait()


def is_alive(process: psutil.Process) -> bool:
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
