"""Runs of the reference trainer in pods, as the stories see them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from django.db import connection, transaction

from checkpoints.models import Checkpoint
from controlplane.common.models import Role, User
from runs import states
from runs.metricstore import codec, tail
from runs.models import Attempt, LogChunk, MetricChunk, Run
from runs.services import runs
from safehold.config import config_hash
from tests.cluster.ground import Ground, shared_folder
from tests.factories import make_config, make_project, make_run, make_user
from tests.safehold.reference.launching import paced, tiny_config, tiny_data
from tests.waiting import wait_until

# Starting two interpreters that load torch, on a machine that does much else.
START_SECONDS = 180


@dataclass
class Training:
    """A launched run, its owner and the ground it plays on."""

    ground: Ground
    run: Run
    user: User

    @property
    def attempt(self) -> Attempt:
        """The newest attempt, read anew."""
        attempt = self.run.attempts.first()
        assert attempt is not None
        return attempt

    @property
    def shown(self) -> states.Shown:
        """What every page says about the run now."""
        self.run.refresh_from_db()
        return states.shown(states.Desired(self.run.desired), self.attempt.facts())

    def wait_shown(self, word: str, timeout: float = START_SECONDS) -> states.Shown:
        wait_until(lambda: self.shown.word == word, timeout, self.report, every=0.2)
        return self.shown

    def wait_why(self, text: str, timeout: float = 30) -> None:
        wait_until(lambda: text in self.shown.why, timeout, self.report, every=0.2)

    def wait_points(self, number: int, timeout: float = START_SECONDS) -> None:
        """Wait until the newest attempt has that many points of loss stored."""
        wait_until(lambda: len(self.losses()) >= number, timeout, self.report, every=0.2)

    def stop(self, *, force: bool = False) -> states.Shown:
        runs.request_stop(run=self.run, user=self.user, force=force)
        return self.wait_shown("stopped", 120)

    def wait_checkpoint(self, timeout: float = 60) -> Checkpoint:
        """Wait until the newest checkpoint is verified: only from such a one a run goes on."""

        def verified() -> Checkpoint | None:
            newest = Checkpoint.objects.filter(run=self.run).order_by("-step").first()
            return newest if newest and newest.state in {"verified", "stable"} else None

        found = wait_until(verified, timeout, self.report, every=0.2)
        assert found is not None
        return found

    def losses(self, attempt: Attempt | None = None) -> dict[int, float]:
        """Return step -> loss as stored; a step that is stored twice fails the test."""
        attempt = attempt or self.attempt
        with transaction.atomic(), connection.cursor() as cursor:
            # Compaction may move points between the two reads.
            cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
            return self._losses(attempt)

    def _losses(self, attempt: Attempt) -> dict[int, float]:
        chunks = MetricChunk.objects.filter(series__attempt=attempt, series__name="train/loss")
        parts = [codec.unpack(chunk.raw).points for chunk in chunks]
        for stored in tail.read([attempt.pk]):
            parts += [
                tail.points_of(stored, column)
                for column in stored.batch.columns
                if column.name == "train/loss"
            ]
        pairs = [
            (int(s), float(v))
            for part in parts
            for s, v in zip(part.steps, part.values, strict=True)
        ]
        assert len(dict(pairs)) == len(pairs), "a step was stored twice"
        return dict(pairs)

    def logs(self) -> dict[str, str]:
        """Return source -> what is kept of its output, of the newest attempt."""
        found: dict[str, bytes] = {}
        for chunk in LogChunk.objects.filter(attempt=self.attempt).order_by("source", "offset"):
            found[chunk.source] = found.get(chunk.source, b"") + bytes(chunk.data)
        return {source: data.decode(errors="replace") for source, data in found.items()}

    def report(self) -> str:
        lines = [f"{self.shown} {self.attempt.state} {len(self.losses())} points"]
        lines += [f"  {e.at:%H:%M:%S} {e.kind}: {e.message}" for e in self.run.events.all()[:15]]
        lines += [f"== {source}\n{text[-1200:]}" for source, text in self.logs().items()]
        lines.append(self.ground.service.log("worker").read_text()[-2500:])
        return "\n".join(lines)


def document(
    ground: Ground, steps: int, *, devices: int = 2, nodes: int = 2, **kubernetes: Any
) -> Any:
    """Return a config of the reference trainer, one device a pod."""
    folder = shared_folder(ground.service) / "shared"
    prepared = tiny_data(folder / "data")
    config = tiny_config(prepared, folder / "checkpoints", train={"steps": steps}, code=paced(0.05))
    config["checkpoint"] |= {"anchor_every_steps": 100_000, "snapshot_every_steps": 0}
    config["compute"] = {"launcher": ground.cluster.launcher, "devices": devices, "nodes": nodes}
    config["kubernetes"] = {"shared_memory": "", "cpu": "100m"} | ground.kubernetes | kubernetes
    return config


def launch(
    ground: Ground, document: Mapping[str, Any], before: Callable[[Run], None] | None = None
) -> Training:
    """Launch a run of this config."""
    project = make_project()
    user = make_user(Role.OPERATOR, project)
    config = make_config(
        project=project, created_by=user, document=document, hash=config_hash(document)
    )
    run = make_run(
        config=config, project=project, created_by=user, launcher=ground.cluster.launcher
    )
    if before is not None:
        before(run)
    runs.request_launch(run=run, user=user)
    return Training(ground, run, user)


def fork(training: Training, checkpoint: Mapping[str, Any]) -> Training:
    """Launch a run from a checkpoint of another one."""
    run = runs.create_run(
        user=training.user, project=training.run.project, config=training.run.config,
        launcher=training.run.launcher, parent=training.run, from_checkpoint=checkpoint,
    )  # fmt: skip
    runs.request_launch(run=run, user=training.user)
    return Training(training.ground, run, training.user)
