"""One job at a time in a thread, whose outcome is asked for later."""

from __future__ import annotations

import threading
from collections.abc import Callable


class Background:
    """Runs a job beside the training; never two at once.

    The thread is no daemon: the interpreter waits for it, so a snapshot is whole before exit.
    """

    def __init__(self) -> None:
        self._thread: threading.Thread | None = None
        self._error: Exception | None = None

    @property
    def busy(self) -> bool:
        """Say whether a job is still running."""
        return self._thread is not None and self._thread.is_alive()

    def start(self, job: Callable[[], object]) -> None:
        """Start a job; the one before it must have been waited for."""
        if self._thread is not None:
            raise RuntimeError("A job is already running; wait for it first.")
        self._thread = threading.Thread(target=self._run, args=(job,), name="safehold-snapshot")
        self._thread.start()

    def wait(self) -> None:
        """Wait for the job.

        Raises:
            Exception: what the job raised; told once.
        """
        if self._thread is not None:
            self._thread.join()
            self._thread = None
        error, self._error = self._error, None
        if error is not None:
            raise error

    def _run(self, job: Callable[[], object]) -> None:
        try:
            job()
        except Exception as error:  # noqa: BLE001 the edge of a thread: kept for `wait`
            self._error = error
