"""Start the reference trainer as a launcher does: torchrun, a config file, an attempt's folder."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from safehold.reference.config import demo_config
from safehold.reference.corpus import Prepared, prepare
from safehold.reference.sources import Text
from tests.waiting import wait_until


def tiny_texts() -> Iterable[Text]:
    """Two domains of a few documents; an epoch is short, so that runs cross its end."""
    from pydoc_data.topics import topics

    for number, name in enumerate(sorted(topics, key=lambda name: (len(topics[name]), name))[-30:]):
        yield Text("reference" if number % 3 else "web", name, topics[name][:1600])


def tiny_data(folder: Path) -> Prepared:
    return prepare(folder, source=tiny_texts())


def tiny_config(prepared: Prepared, root: Path, **changes: dict[str, Any]) -> dict[str, Any]:
    """Return the demo's config, made small; `train={"steps": 9}` changes a section."""
    config = demo_config(prepared, root=root, steps=40, devices=4)
    config["network"] |= {"layers": 2, "hidden": 32, "heads": 2, "sequence_length": 32}
    config["train"] |= {"eval_every": 20, "accumulation": 2}
    config["checkpoint"] |= {"anchor_every_steps": 10, "snapshot_every_steps": 4}
    for section, values in changes.items():
        config[section] |= values
    return config


class Launched:
    """One attempt of a run."""

    def __init__(
        self,
        folder: Path,
        config: dict[str, Any],
        *,
        num_ranks: int = 4,
        attempt: int = 1,
        resume_from: Path | None = None,
    ) -> None:
        self.folder = folder / f"attempt-{attempt}"
        self.folder.mkdir(parents=True)
        (self.folder / "config.json").write_text(json.dumps(config))
        self.output = self.folder / "output.txt"
        environment = {
            **{
                name: value for name, value in os.environ.items() if not name.startswith("SAFEHOLD")
            },
            "OMP_NUM_THREADS": "1",
            "SAFEHOLD_CONFIG": str(self.folder / "config.json"),
            "SAFEHOLD_DIR": str(self.folder),
            "SAFEHOLD_RUN_ID": "7",
            "SAFEHOLD_ATTEMPT": str(attempt),
            "SAFEHOLD_CHECKPOINT_ROOT": config["checkpoint"]["root"],
        }
        if resume_from is not None:
            environment["SAFEHOLD_RESUME_FROM"] = str(resume_from)
        command = [
            sys.executable,
            "-m",
            "torch.distributed.run",
            "--nproc-per-node",
            str(num_ranks),
        ]
        command += [
            "--master-port",
            "0",
            "--rdzv-backend",
            "c10d",
            "--rdzv-endpoint",
            "127.0.0.1:0",
        ]
        with self.output.open("wb") as output:
            self.process = subprocess.Popen(
                [*command, "-m", "safehold.reference.train"],
                env=environment,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def wait(self) -> int:
        return self.process.wait(timeout=300)

    def wait_for(self, condition: Any) -> None:
        """Wait until something holds, or the training ends."""
        wait_until(lambda: condition() or self.process.poll() is not None, timeout=120)


def checkpoints(config: dict[str, Any], attempt: int = 1) -> dict[int, Path]:
    """Return the finished checkpoints of an attempt by step."""
    folder = Path(config["checkpoint"]["root"]) / "run-7" / f"a{attempt}"
    return {int(path.name.split("-")[1]): path for path in folder.glob("step-*")}
