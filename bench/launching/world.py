"""One run in simulated time: its cluster, its trainers, the clock and broken parts of the world."""

import contextlib
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from random import Random
from typing import Any

import time_machine
from django.utils import timezone

from bench.launching.kills import Killer
from controlplane.common import queue
from controlplane.common.models import Role
from runs import states
from runs.models import Attempt, Command, Run
from runs.services import contact, runs
from tests.factories import make_config, make_project, make_run, make_user
from tests.fakes.kube import FakeCluster, answers
from tests.fakes.kube.direct import DirectKube
from tests.fakes.kube.nodes import Ended
from workers import launchers, orphans
from workers.kube import recent
from workers.kube.objects import Place
from workers.launchers import kubernetes
from workers.passes import reconcile_run

LAUNCHER = "simulated"
SWEEP_SECONDS = 5
BEAT_SECONDS = 2
# More deaths in a row than this are taken for the run's own fault, and it has to wait.
DEATHS_IN_A_ROW = 2


@dataclass
class World:
    """A run, whoever acts on it, and what is wrong with the world.

    Attributes:
        chance_of_kill: That a pass of a worker is killed on its way.
        chance_of_fault: That a request to the API server goes wrong.
        is_broker_up: Whether hints reach the workers; without them only sweeps do.
        problems: What must never be, as soon as it was.
    """

    random: Random
    killer: Killer
    chance_of_kill: float = 0.0
    chance_of_fault: float = 0.0
    is_broker_up: bool = True
    problems: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.seconds, self._deaths, self._hints = 0, 0, 0
        self.cluster = FakeCluster(nodes=3, gpus=4, window=100_000)
        kube = DirectKube(self.cluster.server)
        place = Place(namespace="team", owner="us", image="trainer:1")
        self.launcher = kubernetes.KubernetesLauncher(kube, place, now=self._now)
        self.cluster.fail(self._is_unlucky, times=10**9, is_dropped_after=True)
        self.cluster.fail(self._is_unlucky, times=10**9, is_dropped_before=True)
        self.cluster.fail(self._is_unlucky, times=10**9, before=answers.too_many_requests())
        project = make_project()
        self.user = make_user(Role.OPERATOR, project)
        document = {
            "schema_version": 1, "name": "simulated", "compute": {"devices": 2, "nodes": 2},
        }  # fmt: skip
        config = make_config(
            project=project, created_by=self.user, document=document, hash=_hash(document)
        )
        self.run: Run = make_run(
            config=config, project=project, created_by=self.user, launcher=LAUNCHER
        )

    @property
    def attempt(self) -> Attempt:
        return self.run.attempts.all()[0]

    # The clock -----------------------------------------------------------------------------------

    def second(self, traveller: Any) -> None:
        """Let one second pass for everybody."""
        self.seconds += 1
        traveller.shift(1)
        self.cluster.tick(1, passes=1)
        if self.seconds % BEAT_SECONDS == 0:
            self._beat()
        is_sweep = self.seconds % SWEEP_SECONDS == 0
        if is_sweep or self._hints:
            self._hints = 0
            self.work()
        if is_sweep:
            orphans.end_orphans()
            orphans.clean_up()
        self._watch()

    def work(self) -> None:
        """Let a worker see to the run, if there is anything to see to; it may be killed."""
        self.run.refresh_from_db()
        if not self.run.needs_reconcile:
            return
        is_armed = self.random.random() < self.chance_of_kill and self._deaths < DEATHS_IN_A_ROW
        lived = self.killer.run(lambda: reconcile_run(self.run.pk), is_armed=is_armed)
        self._deaths = 0 if lived else self._deaths + 1

    def hint(self, task: str, ids: dict[str, Any]) -> None:
        """Take what a service sends to the workers."""
        if task == "workers.reconcile" and self.is_broker_up:
            self._hints += 1

    def _now(self) -> datetime:
        return datetime.fromtimestamp(self.cluster.clock(), UTC)

    def _is_unlucky(self, request: Any) -> bool:
        return self.random.random() < self.chance_of_fault / 3

    # What people, trainers and fate do -----------------------------------------------------------

    def want(self, running: bool) -> None:
        """Launch, resume or stop the run, as a person does."""
        self.run.refresh_from_db()
        if not running:
            runs.request_stop(run=self.run, user=self.user)
        elif self.run.attempts.exists():
            runs.request_resume(run=self.run, user=self.user)
        else:
            runs.request_launch(run=self.run, user=self.user)

    def end_process(self, code: int = 137) -> None:
        """Kill the container of one running pod."""
        pods = self.live_pods()
        if pods:
            self._end(self.random.choice(pods), Ended(code, "Error"))

    def cut_node(self) -> None:
        """Cut the node of one running pod off."""
        pods = self.live_pods()
        if pods:
            self.cluster.controllers.cut_off.add(self.random.choice(pods)["spec"]["nodeName"])

    def live_pods(self) -> list[dict[str, Any]]:
        return [p for p in self.cluster.list("pods") if p["status"]["phase"] == "Running"]

    def _beat(self) -> None:
        """Let every trainer whose pods all run report, and obey what it is told."""
        attempt = self.run.attempts.first()
        if attempt is None or attempt.is_over:
            return
        pods = [p for p in self.live_pods() if _workload(p) == attempt.name]
        cut = self.cluster.controllers.cut_off
        if len(pods) < 2 or any(p["spec"]["nodeName"] in cut for p in pods):
            return
        Attempt.objects.filter(pk=attempt.pk).update(
            last_seen_at=timezone.now(), phase="training", first_step_at=timezone.now()
        )
        contact.follow_phase(attempt=Attempt.objects.get(pk=attempt.pk), phase="training")
        told = Command.objects.filter(attempt=attempt, done_at=None)
        if told.filter(kind="save_and_stop").exists():
            told.update(done_at=timezone.now(), result="applied")
            record = {"v": 1, "outcome": "stopped", "message": "All ranks saved and stopped."}
            for pod in pods:
                self._end(pod, Ended(0, "", json.dumps(record | {"ranks": {}})))

    def _end(self, pod: dict[str, Any], how: Ended) -> None:
        self.cluster.runtime._ended.setdefault(pod["metadata"]["uid"], how)  # type: ignore[union-attr]

    # What must be true ---------------------------------------------------------------------------

    def _watch(self) -> None:
        names = {_workload(pod) for pod in self.live_pods()}
        if len(names) > 1:
            self.problems.append(f"{self.seconds} s: {sorted(names)} live beside each other")

    def duplicates(self) -> int:
        """Count workloads that were made although one of the name had been."""
        made: dict[str, set[str]] = {}
        for change in self.cluster.store.window:
            if change.plural == "jobs" and not change.object["spec"]["suspend"]:
                metadata = change.object["metadata"]
                made.setdefault(metadata["name"], set()).add(metadata["uid"])
        return sum(len(uids) - 1 for uids in made.values()) + len(self.problems)

    def orphans(self) -> int:
        """Count pods that live for an attempt that ended, and objects that lie around for none."""
        open_names = {a.name for a in self.run.attempts.exclude(state=states.State.ENDED)}
        left = [p for p in self.live_pods() if _workload(p) not in open_names]
        jobs = {job["metadata"]["name"] for job in self.cluster.list("jobs")}
        for plural in ("secrets", "services"):
            left += [i for i in self.cluster.list(plural) if i["metadata"]["name"] not in jobs]
        return len(left)

    def is_right(self) -> bool:
        """Whether the state shown is true and what is wanted has come about."""
        self.run.refresh_from_db()
        attempt, living = self.attempt, {_workload(p) for p in self.live_pods()}
        if attempt.is_over:
            return not living and (
                self.run.desired == states.Desired.STOPPED
                or attempt.outcome == states.Outcome.FAILED
            )
        if self.run.desired != states.Desired.RUNNING:
            return False
        return attempt.state == states.State.RUNNING and living == {attempt.name}

    def tells_lost_node(self) -> bool:
        """Whether the page says that the node, or the training on it, is not heard."""
        attempt = self.attempt
        return attempt.is_over or bool(
            attempt.contact_lost_since or "does not answer" in attempt.reason
        )


def _workload(pod: dict[str, Any]) -> str:
    return str(pod["metadata"]["labels"]["safehold.io/workload"])


def _hash(document: dict[str, Any]) -> str:
    from safehold.config import config_hash

    return config_hash(document)


@contextlib.contextmanager
def simulated(world: World) -> Iterator[Any]:
    """Put the world's launcher, clock and broker in the place of the real ones."""
    launchers.names()
    before = (launchers._factories, queue._send, recent.SNAPSHOT_SECONDS)
    launchers._factories = {LAUNCHER: lambda: world.launcher}
    queue._send = world.hint
    recent.SNAPSHOT_SECONDS = -1.0
    with time_machine.travel(datetime.fromtimestamp(world.cluster.clock(), UTC), tick=False) as now:
        try:
            yield now
        finally:
            launchers._factories, queue._send, recent.SNAPSHOT_SECONDS = before
