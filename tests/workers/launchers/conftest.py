"""A local launcher on a folder of the test; what it started is ended with the test."""

import signal
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from workers.launchers import processes
from workers.launchers.base import LaunchSpec
from workers.launchers.local import LocalLauncher

PROGRAMS = {
    "waits": "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); signal.pause()",
    "stops": "import signal, sys; signal.signal(signal.SIGTERM, lambda *_: sys.exit(0)); signal.pause()",
    "finishes": "pass",
    "fails": "import sys; sys.exit('the disk is full')",
}


@dataclass
class LocalBench:
    """See tests.workers.launchers.contract.Bench."""

    root: Path
    launcher: LocalLauncher = field(init=False)

    def __post_init__(self) -> None:
        self.launcher = LocalLauncher(self.root)

    def spec(self, name: str, kind: str = "waits", **changes: object) -> LaunchSpec:
        begun = f"open({str(self.root / (name + '.begun'))!r}, 'a').write('x');"
        spec = LaunchSpec(
            name=name,
            run_id=1,
            attempt=int(name.rpartition("a")[2]),
            config={"name": "täglich"},
            command=("-c", begun + PROGRAMS.get(kind, kind)),
            devices=1,
            token="sha_secret",
            ingest_url="",
            checkpoint_root=self.root / "checkpoints",
        )
        return replace(spec, **changes)  # type: ignore[arg-type]

    def num_started(self, name: str) -> int:
        begun = self.root / f"{name}.begun"
        return (
            len(begun.read_text())
            if begun.exists()
            else int((self.folder(name) / "ranks").exists())
        )

    def folder(self, name: str) -> Path:
        return self.root / name

    def take_sight(self, name: str) -> None:
        record = self.folder(name) / "wrapper.json"
        record.unlink()
        record.mkdir()


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[LocalBench]:
    bench = LocalBench(tmp_path)
    yield bench
    # Not by the launcher, which lets a wrapper be that only sends its rest.
    for folder in processes.folders_below(tmp_path):
        for pid in processes.marked(folder):
            processes.send(pid, signal.SIGKILL)


assert sys.platform == "linux"
