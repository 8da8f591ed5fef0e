"""`safehold up`: bring the service up, keep it alive, take it down without losing a step.

Ctrl-C saves and stops local training first; the next `up` resumes it. A kill -9 leaves training
running: it is detached, keeps its metrics in its journal, and the next `up` finds it again.
"""

import contextlib
import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType

import httpx

from controlplane import environment as env
from controlplane.common.errors import SafeholdError
from controlplane.service import assets, places, ports, preparing, secrets, servers
from controlplane.service.console import complain, say, tell
from controlplane.service.lock import AlreadyRunning, UpLock
from controlplane.service.processes import Supervisor
from controlplane.service.watching import ClusterWatch, KubeconfigWatch

ROOT = Path(__file__).resolve().parents[2]
DEFAULT_PORT = 8000
# A worker and a web server import in three seconds here; the rest is for a loaded machine.
READY_TIMEOUT_SECONDS = 120
LOOK_EVERY_SECONDS = 0.2


class NotReady(SafeholdError):
    """The processes run, but the service does not get ready."""

    code = "service-not-ready"


def up(*, demo: bool = True, port: int | None = None) -> int:
    """Run the whole service on this machine until Ctrl-C.

    Args:
        demo: Make and launch the demo run.
        port: Of the web server; default: PORT, else 8000.

    Returns:
        Exit code: 0 after a clean stop or when it runs already, 2 when it could not start.
    """
    try:
        home = places.private_dir(env.path("SAFEHOLD_HOME", ROOT / ".safehold"))
        port = port or env.integer("PORT", DEFAULT_PORT, least=1, most=65535)
        with UpLock(home / "up.lock") as lock:
            _serve(home, port, lock, demo=demo)
    except AlreadyRunning as running:
        say(running.message + " " + running.hint)
        tell(**running.extra, already_runs=running.message)
    except SafeholdError as error:
        complain(error)
        return 2
    except env.BadSetting as error:
        complain(SafeholdError(str(error)))
        return 2
    return 0


def _serve(home: Path, port: int, lock: UpLock, *, demo: bool) -> None:
    host = env.text("SAFEHOLD_BIND", ports.HOST)
    ports.check(port, host)
    supervisor = Supervisor()
    with _interruptible(), contextlib.ExitStack() as ends:
        ends.callback(_finish, supervisor.stop)
        try:
            lock.tell(url=_start(home, host, port, supervisor))
            ends.callback(_pause_training, supervisor)
            if demo:
                child = servers.demo_child(home)
                ends.callback(child.stop)
                supervisor.add(child)
                say("  demo run: reading this machine's texts …")
            _keep_alive(home, supervisor)
        except KeyboardInterrupt:
            say("\nStopping …")


def _start(home: Path, host: str, port: int, supervisor: Supervisor) -> str:
    local_url = ports.url(host, port)
    url = _set_environment(home, local_url)
    (home / "logs").mkdir(exist_ok=True)
    say(f"Safehold: state and logs in {home}")
    if assets.install(ROOT):
        say("  page libraries fetched")
    servers.start_stores(home, supervisor)
    made = preparing.prepare(home)
    servers.start_processes(home, host, port, supervisor)
    _wait_until_ready(f"{local_url}/readyz", supervisor)
    for child in servers.late_children(home):
        supervisor.add(child)
    resumed = preparing.resume()
    _greet(home, url, made, resumed)
    return url


def _set_environment(home: Path, local_url: str) -> str:
    secrets.ensure_secret_key(home)
    url = os.environ.setdefault("SAFEHOLD_PUBLIC_URL", local_url)
    os.environ.setdefault("SAFEHOLD_INGEST_URL", local_url)
    os.environ["SAFEHOLD_HOME"] = str(home)
    os.environ["SAFEHOLD_STATIC_MANIFEST"] = "1"
    os.environ["DJANGO_SETTINGS_MODULE"] = "controlplane.settings"
    return url


def _wait_until_ready(url: str, supervisor: Supervisor) -> None:
    deadline = time.monotonic() + READY_TIMEOUT_SECONDS
    answer = "it does not answer"
    while time.monotonic() < deadline:
        _tend(supervisor)
        with contextlib.suppress(httpx.TransportError):
            response = httpx.get(url, timeout=5, trust_env=False)  # no proxy stands between
            if response.status_code == 200:
                return
            answer = _trouble(response)
        time.sleep(LOOK_EVERY_SECONDS / 2)
    raise NotReady(
        f"The service is not ready after {READY_TIMEOUT_SECONDS} s: {answer}",
        hint="See docs/how-to/troubleshoot-the-service.md, and the logs directory.",
    )


def _trouble(response: httpx.Response) -> str:
    """Say which parts keep the service from being ready."""
    try:
        parts = response.json()["checks"].items()
    except (ValueError, LookupError):
        return response.text
    return " ".join(f"{name}: {part['detail']}" for name, part in parts if not part["ok"])


def _greet(home: Path, url: str, made: dict[str, str], resumed: list[int]) -> None:
    say(f"\nSafehold runs at {url}")
    for name, password in made.items():
        say(f"  sign in as {name:<9} password {password}")
    say(f"  passwords: {home / 'credentials'}   API token: {home / 'token'}")
    if resumed:
        say(f"  resumed: run {', '.join(map(str, resumed))}")
    say("  Ctrl-C saves and stops local training, then the service; the next `up` resumes it.\n")
    tell(url=url, home=str(home), token_file=str(home / "token"), resumed=resumed)


def _keep_alive(home: Path, supervisor: Supervisor) -> None:
    clusters, credentials = ClusterWatch(home, supervisor), KubeconfigWatch(say)
    while True:
        _tend(supervisor)
        clusters.tend()
        credentials.tend()
        time.sleep(LOOK_EVERY_SECONDS)


def _tend(supervisor: Supervisor) -> None:
    for told in supervisor.tend():
        say(f"  {told}")


def _pause_training(supervisor: Supervisor) -> None:
    """Save and stop what trains here; a second Ctrl-C leaves it to itself."""
    from controlplane.service import training

    def meanwhile() -> None:
        _tend(supervisor)
        time.sleep(LOOK_EVERY_SECONDS)

    try:
        training.pause_all(meanwhile=meanwhile, say=say)
    except KeyboardInterrupt:
        say("  not waiting; training that still runs goes on by itself.")


def _finish(stop: Callable[[], None]) -> None:
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    stop()
    say("Stopped.")


@contextlib.contextmanager
def _interruptible() -> Iterator[None]:
    """Let SIGTERM and SIGHUP (a closed terminal) do what Ctrl-C does."""

    def interrupt(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    handled = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = {number: signal.signal(number, interrupt) for number in handled}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
