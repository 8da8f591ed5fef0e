"""Start the reference trainer as a launcher does: a config file, an attempt's folder, ranks."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from safehold.reference.config import demo_config
from safehold.reference.corpus import Prepared, prepare
from safehold.reference.sources import Text
from tests.safehold.forked_ranks import ForkedRanks
from tests.waiting import wait_until


def tiny_texts() -> Iterable[Text]:
    """Two domains of a few documents; an epoch is short, so that runs cross its end."""
    from pydoc_data.topics import topics

    for number, name in enumerate(sorted(topics, key=lambda name: (len(topics[name]), name))[-30:]):
        yield Text("reference" if number % 3 else "web", name, topics[name][:1600])


def tiny_data(folder: Path) -> Prepared:
    return prepare(folder, source=tiny_texts())


def paced(seconds: float = 0.1) -> dict[str, list[str]]:
    """Return a `[code]` whose steps leave the machine to others, for trainings that are stopped anyway."""
    return {"command": ["-m", "safehold.reference.train", "--pace", str(seconds)]}


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
        from safehold.reference import train  # torch is not for those who only want a config

        self.folder = folder / f"attempt-{attempt}"
        self.folder.mkdir(parents=True)
        (self.folder / "config.json").write_text(json.dumps(config))
        self.output = self.folder / "output.txt"
        environment = {
            **{
                name: value for name, value in os.environ.items() if not name.startswith("SAFEHOLD")
            },
            "SAFEHOLD_CONFIG": str(self.folder / "config.json"),
            "SAFEHOLD_DIR": str(self.folder),
            "SAFEHOLD_RUN_ID": "7",
            "SAFEHOLD_ATTEMPT": str(attempt),
            "SAFEHOLD_CHECKPOINT_ROOT": config["checkpoint"]["root"],
        }
        if resume_from is not None:
            environment["SAFEHOLD_RESUME_FROM"] = str(resume_from)
        self.ranks = ForkedRanks(train.main, (), num=num_ranks, env=environment, output=self.output)

    def wait(self) -> None:
        """Wait for the end of all ranks, which must be a good one."""
        assert set(self.ranks.wait()) == {0}, self.output.read_text()

    def wait_for(self, condition: Any) -> None:
        """Wait until something holds, or the training ends."""
        wait_until(lambda: condition() or not self.ranks.are_running, timeout=120)


def checkpoints(config: dict[str, Any], attempt: int = 1) -> dict[int, Path]:
    """Return the finished checkpoints of an attempt by step."""
    folder = Path(config["checkpoint"]["root"]) / "run-7" / f"a{attempt}"
    return {int(path.name.split("-")[1]): path for path in folder.glob("step-*")}
