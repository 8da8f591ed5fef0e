"""What happens to a run in one seed, and what is counted of it."""

from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Any

from bench.launching.kills import Killer
from bench.launching.world import World, simulated
from runs import states

QUIET_SECONDS = 300
# A pod takes some seconds to start; a trainer reports and obeys then.
LONGEST_PHASE_SECONDS = 15


@dataclass(frozen=True, kw_only=True)
class Result:
    """One seed.

    Attributes:
        seconds: Of simulated time from the last that happened until the state was right; None = never.
    """

    kind: str
    seed: int
    kills: int
    duplicates: int
    lost: int
    orphans: int
    seconds: int | None
    problems: tuple[str, ...] = ()


def workers(world: World, step: Callable[[], None]) -> Callable[[], bool]:
    """Launch, stop and resume again and again while workers die and answers are lost."""
    world.chance_of_kill, world.chance_of_fault = 0.85, 0.1
    for _ in range(4):
        world.is_broker_up = world.random.random() < 0.5
        for running in (True, False):
            _ask(world, running, step)
            for _ in range(world.random.randint(3, LONGEST_PHASE_SECONDS)):
                step()
    if world.random.random() < 0.5:
        _ask(world, True, step)
    return world.is_right


def pod(world: World, step: Callable[[], None]) -> Callable[[], bool]:
    """Kill the process of a pod in the middle of a training."""
    _running(world, step)
    world.chance_of_kill = 0.5
    world.end_process()
    return lambda: world.attempt.is_over and world.is_right()


def node(world: World, step: Callable[[], None]) -> Callable[[], bool]:
    """Cut a node off in the middle of a training."""
    _running(world, step)
    world.chance_of_kill = 0.5
    world.cut_node()
    return world.tells_lost_node


KINDS = {"workers": workers, "pod": pod, "node": node}


def play(kind: str, seed: int) -> Result:
    """Play one seed to its end."""
    random = Random(f"{kind}-{seed}")
    world = World(random, Killer(random))
    with simulated(world) as traveller:
        is_right = KINDS[kind](world, lambda: world.second(traveller))
        seconds = _settle(world, traveller, is_right)
        _quiet(world, traveller)
        is_wrong = kind != "node" and not world.is_right()
        return Result(
            kind=kind, seed=seed, kills=world.killer.num_kills, duplicates=world.duplicates(),
            lost=_lost(world), orphans=world.orphans(), seconds=None if is_wrong else seconds,
            problems=tuple(world.problems),
        )  # fmt: skip


def _settle(world: World, traveller: Any, is_right: Callable[[], bool]) -> int | None:
    """Return after how many seconds it was right; the last blow may kill a worker too, then none does."""
    for second in range(QUIET_SECONDS):
        if is_right():
            return second
        if second == 5:
            world.chance_of_kill = world.chance_of_fault = 0.0
        world.second(traveller)
    return None


def _quiet(world: World, traveller: Any) -> None:
    """Let five more minutes pass in which nothing happens: what comes late comes now."""
    world.chance_of_kill = world.chance_of_fault = 0.0
    for _ in range(4):
        for _ in range(6):
            world.second(traveller)
        traveller.shift(QUIET_SECONDS / 4)
        world.cluster.tick(QUIET_SECONDS / 4)
        world._beat()


def _ask(world: World, running: bool, step: Callable[[], None]) -> None:
    """Ask as soon as it can be asked: a stop takes its time before a resume is taken."""
    while running and world.run.attempts.exists() and not world.attempt.is_over:
        step()
    world.want(running)


def _running(world: World, step: Callable[[], None]) -> None:
    world.want(True)
    while not world.is_right():
        step()
    for _ in range(world.random.randint(1, 20)):
        step()


def _lost(world: World) -> int:
    """Whether the run is wanted, its attempt open, and no workload there or to come."""
    world.run.refresh_from_db()
    is_due = world.run.desired == states.Desired.RUNNING and not world.attempt.is_over
    return int(is_due and not world.cluster.find("jobs", "team", world.attempt.name))
