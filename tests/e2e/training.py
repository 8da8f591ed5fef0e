"""One run of the small trainer on a live service, as the kill tests see it."""

import json
import math
import os
import signal
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
from django.db import connection, transaction

from controlplane.common.models import Role, User
from runs import states
from runs.metricstore import codec, tail
from runs.models import Attempt, MetricChunk, Run
from runs.services import runs
from tests.e2e.trainer import value_at
from tests.factories import make_config, make_project, make_run, make_user
from tests.live_service import LiveService
from tests.waiting import wait_until

TRAINER = Path(__file__).with_name("trainer.py")
# The promise: the right state within this time of the return of what was killed.
RIGHT_WITHIN_SECONDS = 30


@dataclass
class Training:
    """A launched run, its owner and the service."""

    service: LiveService
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

    def wait_shown(self, word: str, timeout: float = RIGHT_WITHIN_SECONDS) -> states.Shown:
        """Wait until the run is shown so."""
        wait_until(lambda: self.shown.word == word, timeout, self.report, every=0.1)
        return self.shown

    def wait_steps(self, number: int, timeout: float = 60) -> None:
        """Wait until the trainer of the newest attempt did this many more steps."""
        goal = len(self.told()) + number
        wait_until(lambda: len(self.told()) >= goal, timeout, self.report, every=0.1)

    def wait_stored(self, timeout: float = RIGHT_WITHIN_SECONDS) -> None:
        """Wait until everything is stored that the trainer has reported by now."""
        goal = len(self.told())
        wait_until(lambda: len(self.stored()) >= goal, timeout, self.report, every=0.2)

    def stop(self) -> None:
        runs.request_stop(run=self.run, user=self.user)

    def folder(self, attempt: Attempt | None = None) -> Path:
        return self.service.home / "attempts" / (attempt or self.attempt).name

    def told(self, attempt: Attempt | None = None) -> list[int]:
        """Return the steps whose log call returned."""
        return self._truth("done", attempt)

    def _truth(self, key: str, attempt: Attempt | None) -> list[int]:
        path = self.folder(attempt) / "truth-0.jsonl"
        lines = path.read_text().splitlines() if path.exists() else []
        # A kill may cut the last line.
        records = [json.loads(line) for line in lines if line.endswith("}")]
        return [record[key] for record in records if key in record]

    def stored(
        self, attempt: Attempt | None = None, name: str = "train/loss"
    ) -> list[tuple[int, float]]:
        """Return every stored point of a name, in chunks and batches, doubled ones doubled."""
        attempt = attempt or self.attempt
        with transaction.atomic(), connection.cursor() as cursor:
            # Compaction may move points between the two reads.
            cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
            return self._stored(attempt, name)

    def _stored(self, attempt: Attempt, name: str) -> list[tuple[int, float]]:
        chunks = MetricChunk.objects.filter(series__attempt=attempt, series__name=name)
        parts = [codec.unpack(chunk.raw).points for chunk in chunks]
        for stored in tail.read([attempt.pk]):
            parts += [
                tail.points_of(stored, column)
                for column in stored.batch.columns
                if column.name == name
            ]
        return sorted(
            (int(step), float(value))
            for part in parts
            for step, value in zip(part.steps, part.values, strict=True)
        )

    def assert_nothing_lost_or_doubled(self, attempt: Attempt | None = None) -> None:
        """Hold every stored step against the trainer's own record."""
        stored, told = self.stored(attempt), self.told(attempt)
        counts = Counter(step for step, _ in stored)
        assert [step for step, count in counts.items() if count > 1] == []
        missing = set(told) - set(counts)
        assert not missing, f"{len(missing)} steps are missing, e.g. {sorted(missing)[:5]}"
        # A kill may come between the two lines around a log call.
        assert set(counts) <= set(self._truth("begun", attempt))
        for step, value in stored:
            expected = value_at(step)
            assert value == expected or math.isnan(value) and math.isnan(expected), step

    def workloads(self) -> list[psutil.Process]:
        """Return the living processes that run the trainer, of any attempt of this service."""
        found = []
        for process in psutil.process_iter():
            try:
                is_trainer = str(TRAINER) in process.cmdline()[1:3]
                if is_trainer and process.environ().get("SAFEHOLD_DIR", "").startswith(
                    str(self.service.home)
                ):
                    found.append(process)
            except psutil.Error:
                continue
        return found

    def the_workload(self) -> psutil.Process:
        """Return the only living trainer."""
        found = self.workloads()
        assert len(found) == 1, found
        return found[0]

    def kill_trainer(self) -> None:
        os.kill(self.the_workload().pid, signal.SIGKILL)

    def finish(self) -> None:
        """Save and stop, and check that all is as it should be."""
        self.stop()
        self.wait_shown("stopped")
        self.wait_stored()
        self.assert_nothing_lost_or_doubled()
        assert self.workloads() == []
        wait_until(self._is_settled, 10, self.report)

    def _is_settled(self) -> bool:
        self.run.refresh_from_db()
        return not self.run.needs_reconcile

    def report(self) -> str:
        attempt, events = self.attempt, self.run.events.all()[:12]
        lines = [
            f"{self.shown} {attempt.state} told {len(self.told())} stored {len(self.stored())}"
        ]
        lines += [f"  {event.at:%H:%M:%S} {event.kind}: {event.message}" for event in events]
        log = self.folder() / "logs" / "rank-0.log"
        lines.append(log.read_text()[-1500:] if log.exists() else "no log of rank 0")
        lines.append(self.service.log("worker").read_text()[-3000:])
        return "\n".join(lines)


def document(steps: int = 1_000_000, step_seconds: float = 0.02, **changes: Any) -> dict[str, Any]:
    """Return a config that runs the small trainer."""
    return {
        "schema_version": 1,
        "name": "small",
        "train": {"steps": steps},
        "trainer": {"step_seconds": step_seconds},
        "compute": {"launcher": "local", "devices": 1},
        "code": {"command": [sys.executable, str(TRAINER)]},
    } | changes


def launch(
    service: LiveService, before: Callable[[Run], None] | None = None, **changes: Any
) -> Training:
    """Launch a run of the small trainer."""
    project = make_project()
    user = make_user(Role.OPERATOR, project)
    config = make_config(project=project, created_by=user, document=document(**changes))
    run = make_run(config=config, project=project, created_by=user)
    if before is not None:
        before(run)
    runs.request_launch(run=run, user=user)
    return Training(service, run, user)


def launched(service: LiveService, **changes: Any) -> Training:
    """Launch a run and wait until it trains."""
    training = launch(service, **changes)
    training.wait_shown("running", 60)
    training.wait_steps(20)
    return training
