"""Ranks of a training that need not import torch one by one.

They are real processes that meet as those of torchrun do, forked from one that has imported everything
once. Importing costs each of them three seconds of a core, far more than the few steps of a test.
"""

import multiprocessing
import os
import signal
import socket
from collections.abc import Callable, Mapping
from pathlib import Path

_CONTEXT = multiprocessing.get_context("forkserver")
_CONTEXT.set_forkserver_preload(["torch._dynamo", "safehold.reference.train"])


class ForkedRanks:
    """All ranks of one training.

    Args:
        entry: What each calls, a function of a module.
        arguments: What it is called with.
        num: How many.
        env: Their whole environment, without what tells them where they meet.
        output: The file that takes all output.
    """

    def __init__(
        self,
        entry: Callable[..., None],
        *arguments: object,
        num: int,
        env: Mapping[str, str],
        output: Path,
    ) -> None:
        self._output = output
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        meeting = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port), "WORLD_SIZE": str(num)}
        self._processes = []
        for rank in range(num):
            own = {**env, **meeting, "RANK": str(rank), "LOCAL_RANK": str(rank)}
            given = (entry, arguments, own, output)
            # A daemon is ended with the tests, whatever became of the one that started it.
            self._processes.append(_CONTEXT.Process(target=_rank, args=given, daemon=True))
            self._processes[-1].start()

    @property
    def are_running(self) -> bool:
        return all(process.is_alive() for process in self._processes)

    def send(self, number: signal.Signals) -> None:
        """Send a signal to each that lives."""
        for process in self._processes:
            if process.pid and process.is_alive():
                os.kill(process.pid, number)

    def wait(self, timeout: float = 300) -> list[int]:
        """Wait for the end; return the exit codes."""
        for process in self._processes:
            process.join(timeout)
        codes = [process.exitcode for process in self._processes]
        assert None not in codes, self._output.read_text()
        return [code for code in codes if code is not None]


def _rank(
    entry: Callable[..., None], arguments: tuple[object, ...], env: dict[str, str], output: Path
) -> None:
    import torch

    os.environ.clear()
    os.environ.update(env)
    with output.open("ab") as file:
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
    torch.set_num_threads(1)
    entry(*arguments)
