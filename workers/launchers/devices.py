"""The devices of this machine: GPUs where there are any, else processors."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

_DRIVER = Path("/proc/driver/nvidia/gpus")
# A rank of a small training computes on one thread and waits much; on small machines a few of them get along.
_RANKS_PER_CORE = 2
_LEAST_SLOTS = 8


@dataclass(frozen=True)
class Devices:
    """What attempts on this machine share.

    Attributes:
        num: How many ranks run at once.
        ids: Of the GPUs, as CUDA_VISIBLE_DEVICES names them; empty where processors are shared.
    """

    num: int
    ids: tuple[str, ...] = ()

    def can_ever_hold(self, needed: int) -> bool:
        """Whether so many ranks fit at all; processors take any number where nothing else runs."""
        return needed <= self.num or not self.ids


def of_this_machine(
    asked: int = 0, environment: Mapping[str, str] = os.environ, driver: Path = _DRIVER
) -> Devices:
    """Return the devices that attempts may use.

    Args:
        asked: How many of them; 0: all GPUs, or what the processors bear.
        environment: Of this process; CUDA_VISIBLE_DEVICES narrows the GPUs.
        driver: Where the driver lists its GPUs.
    """
    ids = _gpus(environment, driver)
    if ids:
        ids = ids[: asked or len(ids)]
        return Devices(len(ids), ids)
    cores = len(os.sched_getaffinity(0))
    return Devices(asked or max(_LEAST_SLOTS, cores * _RANKS_PER_CORE))


def _gpus(environment: Mapping[str, str], driver: Path) -> tuple[str, ...]:
    named = environment.get("CUDA_VISIBLE_DEVICES")
    try:
        num = len(list(driver.iterdir()))
    except OSError:
        num = 0
    if named is None or not num:
        return tuple(str(number) for number in range(num))
    return tuple(filter(None, (one.strip() for one in named.split(","))))
