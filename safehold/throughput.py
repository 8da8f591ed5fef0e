"""What every training can tell of itself: speed, use of the device, waiting, memory."""

from __future__ import annotations

import math
import os
import sys
import time
from typing import Any

from safehold.environment import Environment


class Meter:
    """Measures from one log call to the next. The cost is a few clock and counter reads.

    Attributes:
        parameters: Of the trained network; 0 = not known, then there is no MFU.
    """

    def __init__(self, environment: Environment) -> None:
        self.parameters = 0
        self._world_size = environment.world_size
        self._peak_flops = 1e12 * float(
            environment.setting("compute", "peak_tflops_per_device", 0.0) or 0.0
        )
        self._attention_flops = _attention_flops(environment)
        self._wait_seconds = 0.0
        self._at = 0.0
        self._step = 0
        self._tokens = -1
        self._memory = Memory()

    def begin(self, step: int, tokens: int) -> None:
        """Begin an interval: at the first step, and after whatever is no training (a pause)."""
        self._at, self._step, self._tokens = time.perf_counter(), step, tokens
        self._wait_seconds = 0.0

    def waited(self, seconds: float) -> None:
        """Add time that the training waited for its data."""
        self._wait_seconds += seconds

    def read(self, step: int, tokens: int) -> dict[str, float]:
        """Return what was measured since the last call, and begin the next interval."""
        values = self._memory.read()
        now, num_steps = time.perf_counter(), step - self._step
        seconds = now - self._at
        if self._at and num_steps > 0 and seconds > 0:
            values["time/step_seconds"] = seconds / num_steps
            values["time/data_wait_seconds"] = self._wait_seconds / num_steps
            if 0 <= self._tokens < tokens:
                values |= self._speed((tokens - self._tokens) / seconds)
        self.begin(step, tokens)
        return values

    def flops_per_token(self) -> float:
        """Return the arithmetic of one token, forward and backward.

        Source:
            Chowdhery et al. 2022 (PaLM), appendix B: 6 N + 12 L H Q T.
        """
        return 6.0 * self.parameters + self._attention_flops if self.parameters else 0.0

    def _speed(self, tokens_per_second: float) -> dict[str, float]:
        per_device = tokens_per_second / self._world_size
        values = {
            "throughput/tokens_per_second": tokens_per_second,
            "throughput/tokens_per_second_per_device": per_device,
        }
        if self._peak_flops and self.parameters:
            values["throughput/mfu"] = per_device * self.flops_per_token() / self._peak_flops
        return values


# The counters of a GPU's allocator take a tenth of a millisecond to read, a leak takes minutes.
MEMORY_EVERY_SECONDS = 1.0


class Memory:
    """Bytes of this process: on its GPU where it uses one, in main memory otherwise."""

    def __init__(self) -> None:
        self._page_bytes = os.sysconf("SC_PAGE_SIZE")
        self._peak_bytes = 0
        self._total_bytes = 0
        self._read_at = -math.inf

    def read(self) -> dict[str, float]:
        """Return the memory now; nothing where it was read within the last second."""
        now = time.monotonic()
        if now - self._read_at < MEMORY_EVERY_SECONDS:
            return {}
        self._read_at = now
        torch = sys.modules.get("torch")
        if torch is not None and torch.cuda.is_available() and torch.cuda.is_initialized():
            return self._of_gpu(torch)
        resident = self._resident_bytes()
        self._peak_bytes = max(self._peak_bytes, resident)
        return {"memory/rss_bytes": float(resident), "memory/peak_bytes": float(self._peak_bytes)}

    def _of_gpu(self, torch: Any) -> dict[str, float]:
        # Counters of the allocator in this process: no wait for the device.
        reserved = float(torch.cuda.memory_reserved())
        if not self._total_bytes:
            self._total_bytes = torch.cuda.get_device_properties(
                torch.cuda.current_device()
            ).total_memory
        return {
            "memory/allocated_bytes": float(torch.cuda.memory_allocated()),
            "memory/reserved_bytes": reserved,
            "memory/peak_bytes": float(torch.cuda.max_memory_allocated()),
            "memory/used_fraction": reserved / self._total_bytes,
        }

    def _resident_bytes(self) -> int:
        try:
            with open("/proc/self/statm", "rb", buffering=0) as file:
                return int(file.read(128).split()[1]) * self._page_bytes
        except (OSError, IndexError, ValueError):
            return 0


def _attention_flops(environment: Environment) -> float:
    """The part of attention that grows with the length of the sequence; 0 where not known."""
    layers, hidden, length = (
        environment.setting("network", name, 0) or 0
        for name in ("layers", "hidden", "sequence_length")
    )
    return 12.0 * layers * hidden * length
