"""The local launcher: the common contract, and what processes of one machine add to it."""

import json
import os
import signal
import stat
import subprocess
import sys
import textwrap
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.waiting import wait_until
from tests.workers.launchers.conftest import LocalBench
from tests.workers.launchers.contract import LauncherContract
from workers.launchers import processes
from workers.launchers.base import LauncherError, Presence
from workers.launchers.local import LocalLauncher
from workers.launchers.local_environment import passed_on

NAME = "safehold-r7-a3"


class TestLocal(LauncherContract):
    """The contract on processes of this machine."""


def wrapper_of(bench: LocalBench) -> int:
    return int(json.loads((bench.folder(NAME) / "wrapper.json").read_text())["pid"])


def wait_for_program(bench: LocalBench) -> None:
    wait_until(lambda: bench.num_started(NAME) and (bench.root / f"{NAME}.begun").exists(), 20)


def test_many_starts_at_once_are_one(bench: LocalBench):
    launchers = [LocalLauncher(bench.root) for _ in range(8)]

    with ThreadPoolExecutor(8) as pool:
        handles = list(pool.map(lambda each: each.start(bench.spec(NAME)), launchers))

    wait_for_program(bench)
    assert len({handle["pid"] for handle in handles}) == 1
    assert bench.num_started(NAME) == 1


@pytest.mark.parametrize("moment", ["before", "after"])
def test_starter_killed_around_the_start_leaves_exactly_one(bench: LocalBench, moment: str):
    """A worker dies in the very line that makes the process: the next one adopts it, or starts it."""
    script = textwrap.dedent(f"""
        import os, signal, subprocess, sys
        sys.path.insert(0, {os.getcwd()!r})
        from tests import environment; environment.prepare()
        from pathlib import Path
        from tests.workers.launchers.conftest import LocalBench
        start = subprocess.Popen
        def start_and_die(*args, **kwargs):
            if {moment!r} == "after":
                start(*args, **kwargs)
            os.kill(os.getpid(), signal.SIGKILL)
        bench = LocalBench(Path({str(bench.root)!r}))
        subprocess.Popen = start_and_die
        bench.launcher.start(bench.spec({NAME!r}))
    """)
    died = subprocess.run([sys.executable, "-c", script], env=os.environ | {"PYTHONPATH": "."})
    assert died.returncode == -signal.SIGKILL

    bench.launcher.start(bench.spec(NAME))

    wait_for_program(bench)
    assert bench.num_started(NAME) == 1
    assert bench.launcher.observe(NAME, {}).presence is Presence.RUNNING


def test_name_being_started_is_pending_and_never_absent(bench: LocalBench):
    folder = bench.launcher._folder(NAME)
    folder.make()
    with folder.locked(1):
        assert bench.launcher.observe(NAME, {}).presence is Presence.PENDING
    assert bench.launcher.observe(NAME, {}).presence is Presence.ABSENT


def test_wrapper_that_cannot_run_is_told_with_its_last_line(bench: LocalBench):
    broken = LocalLauncher(
        bench.root, wrapper=(sys.executable, "-c", "raise SystemExit('no torch')")
    )

    with pytest.raises(LauncherError, match="no torch") as refused:
        broken.start(bench.spec(NAME))
    assert refused.value.can_retry
    seen = bench.launcher.observe(NAME, {})
    assert (seen.presence, seen.is_due) == (Presence.PENDING, True)


def test_folder_that_cannot_be_written_is_a_launcher_error(tmp_path: Path):
    (tmp_path / "file").write_text("")
    bench = LocalBench(tmp_path / "file")

    with pytest.raises(LauncherError, match="cannot be started in"):
        bench.launcher.start(bench.spec(NAME))


def test_killed_program_is_told_with_signal_and_rank(bench: LocalBench):
    bench.launcher.start(bench.spec(NAME, "import os; os.kill(os.getpid(), 9)"))

    seen = wait_until(lambda: bench.launcher.observe(NAME, {}).exit, 20)

    assert seen["outcome"] == "failed"
    assert seen["ranks"]["0"]["signal"] == signal.SIGKILL


def test_killed_wrapper_leaves_no_record_and_is_gone_once_nothing_survives(bench: LocalBench):
    escapes = "import subprocess; subprocess.Popen(['sleep', '600'], start_new_session=True);"
    bench.launcher.start(bench.spec(NAME, escapes + "import signal; signal.pause()"))
    wait_for_program(bench)
    wait_until(lambda: len(processes.marked(bench.folder(NAME))) >= 4, 20)

    os.kill(wrapper_of(bench), signal.SIGKILL)

    def left_behind() -> bool:
        seen = bench.launcher.observe(NAME, {})
        return seen.presence is Presence.EXITED and seen.num_survivors == 1

    wait_until(left_behind, 20, lambda: str(bench.launcher.observe(NAME, {})))
    assert NAME in bench.launcher.live_names()

    bench.launcher.kill(NAME, {})

    seen = bench.launcher.observe(NAME, {})
    assert (seen.is_gone, seen.exit) == (True, None)


def test_attempt_of_an_earlier_boot_is_gone(bench: LocalBench):
    bench.launcher.start(bench.spec(NAME))
    record = bench.folder(NAME) / "wrapper.json"
    told = json.loads(record.read_text())
    bench.launcher.kill(NAME, {})
    # The number belongs to a process that lives, as it may after a restart of the machine.
    record.write_text(
        json.dumps(told | {"pid": os.getppid(), "started": f"{told['started'][:-1]}x"})
    )

    seen = bench.launcher.observe(NAME, {})

    assert (seen.presence, seen.is_gone) == (Presence.EXITED, True)
    bench.launcher.kill(NAME, {})
    os.kill(os.getppid(), 0)


def test_attempt_of_another_machine_is_unreachable(bench: LocalBench, monkeypatch):
    bench.launcher.start(bench.spec(NAME))
    spec = bench.folder(NAME) / "spec.json"
    spec.write_text(json.dumps({"machine": "elsewhere"}))
    monkeypatch.setattr(processes, "machine_id", lambda: "here")

    seen = bench.launcher.observe(NAME, {})

    assert seen.presence is Presence.UNREACHABLE
    assert "another machine" in seen.reason


def test_wrapper_that_only_sends_its_rest_is_no_orphan(bench: LocalBench):
    sends = textwrap.dedent("""
        import os, signal
        from safehold.statusfile import write_json
        from safehold.wrapper.linux import started
        from pathlib import Path
        folder = Path(os.environ["SAFEHOLD_DIR"])
        write_json(folder / "exit.json", {"v": 1, "outcome": "finished"})
        write_json(folder / "wrapper.json", {"pid": os.getpid(), "started": started(os.getpid())})
        signal.pause()
    """)
    LocalLauncher(bench.root, wrapper=(sys.executable, "-c", sends)).start(bench.spec(NAME))

    seen = bench.launcher.observe(NAME, {})

    assert (seen.presence, seen.num_survivors) == (Presence.EXITED, 0)
    assert NAME not in bench.launcher.live_names()


def test_program_that_claims_its_own_end_still_runs(bench: LocalBench):
    bench.launcher.start(bench.spec(NAME))
    wait_for_program(bench)
    (bench.folder(NAME) / "exit.json").write_text('{"v": 1, "outcome": "finished"}')

    seen = bench.launcher.observe(NAME, {})

    assert (seen.presence, seen.exit) == (Presence.RUNNING, None)
    assert NAME in bench.launcher.live_names()


def test_secrets_of_the_service_do_not_reach_the_training(bench: LocalBench, monkeypatch):
    for name in ("SAFEHOLD_SECRET_KEY", "DATABASE_URL", "REDIS_URL", "HF_TOKEN", "AWS_SECRET_KEY"):
        monkeypatch.setenv(name, "secret-value")
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "1")
    prints = "import os, json; print(json.dumps(dict(os.environ)))"

    bench.launcher.start(
        bench.spec(NAME, prints, env={"MY_SETTING": "3"}, resume_from="/ckpt/step-4")
    )
    wait_until(lambda: bench.launcher.observe(NAME, {}).is_gone, 20)

    folder = bench.folder(NAME)
    seen = json.loads((folder / "logs" / "rank-0.log").read_text())
    assert "secret-value" not in seen.values()
    assert (seen["CUDA_VISIBLE_DEVICES"], seen["MY_SETTING"]) == ("1", "3")
    assert (seen["SAFEHOLD_RUN_ID"], seen["SAFEHOLD_ATTEMPT"]) == ("1", "3")
    assert seen["SAFEHOLD_RESUME_FROM"] == "/ckpt/step-4"
    assert seen["SAFEHOLD_DIR"] == str(folder)
    assert (folder / "token").read_text() == "sha_secret"
    assert json.loads((folder / "config.json").read_text()) == {"name": "täglich"}
    assert "sha_secret" not in seen.values()


def test_files_are_for_this_user_alone(bench: LocalBench):
    bench.launcher.start(bench.spec(NAME))

    folder = bench.folder(NAME)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    for name in ("token", "config.json", "spec.json"):
        assert stat.S_IMODE((folder / name).stat().st_mode) == 0o600, name
    assert "sha_secret" not in (folder / "spec.json").read_text()


def test_config_cannot_take_the_identity_of_an_attempt(bench: LocalBench):
    prints = "import os; print(os.environ['SAFEHOLD_RUN_ID'])"
    bench.launcher.start(bench.spec(NAME, prints, env={"SAFEHOLD_RUN_ID": "99"}))
    wait_until(lambda: bench.launcher.observe(NAME, {}).is_gone, 20)

    assert (bench.folder(NAME) / "logs" / "rank-0.log").read_text().strip() == "1"


def test_only_named_settings_are_passed_on():
    passed = passed_on({"PATH": "/bin", "LC_ALL": "C", "NCCL_DEBUG": "INFO", "DJANGO_KEY": "k"})

    assert passed == {"PATH": "/bin", "LC_ALL": "C", "NCCL_DEBUG": "INFO"}


@pytest.fixture
def sending(bench: LocalBench) -> Path:
    """The folder of an attempt whose ranks ended, and whose wrapper cannot tell what they saved."""
    saves = (
        "import os, pathlib; box = pathlib.Path(os.environ['SAFEHOLD_DIR'], 'outbox');"
        " box.mkdir(); (box / '1-1.json').write_text('{}')"
    )
    bench.launcher.start(bench.spec(NAME, saves, ingest_url="http://127.0.0.1:9"))
    folder = bench.folder(NAME)
    wait_until(lambda: (folder / "exit.json").exists(), 20)
    return folder


def test_saves_that_were_not_told_yet_hold_up_the_end(bench: LocalBench, sending: Path):
    """After its end an attempt registers nothing: a save told too late would be lost to the run."""
    seen = bench.launcher.observe(NAME, {})
    assert (seen.presence, seen.is_gone) == (Presence.RUNNING, False)
    assert seen.reason == "Its ranks ended; it sends which checkpoints they saved."

    (sending / "outbox" / "1-1.json").unlink()
    seen = bench.launcher.observe(NAME, {})
    assert (seen.presence, seen.exit["outcome"]) == (Presence.EXITED, "finished")


def test_saves_that_cannot_be_told_hold_it_up_for_a_while_only(bench: LocalBench, sending: Path):
    long_ago = time.time() - 60
    os.utime(sending / "exit.json", (long_ago, long_ago))

    assert bench.launcher.observe(NAME, {}).presence is Presence.EXITED
    assert list(bench.launcher.live_names()) == []


def test_what_only_sends_its_rest_is_neither_stopped_nor_killed(bench: LocalBench, sending: Path):
    """Its metrics would be lost with it."""
    bench.launcher.stop(NAME, {}, grace_seconds=1)
    bench.launcher.kill(NAME, {})

    assert not (sending / "stop").exists()
    assert bench.launcher.observe(NAME, {}).presence is Presence.RUNNING


def test_files_that_a_program_nested_too_deep_hide_nothing(bench: LocalBench):
    bench.launcher.start(bench.spec(NAME))
    wait_for_program(bench)
    (bench.folder(NAME) / "exit.json").write_text("[" * 60_000)

    assert bench.launcher.observe(NAME, {}).presence is Presence.RUNNING
