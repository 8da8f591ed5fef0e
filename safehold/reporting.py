"""Everything of a run that talks to the server, or nothing of it where there is none."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable

from safehold import wire
from safehold.client import Client
from safehold.commands import Inbox
from safehold.environment import Environment
from safehold.journal import Journal
from safehold.outbox import Outbox, Postman
from safehold.replay import journals, replay
from safehold.transport import Transport

logger = logging.getLogger(__name__)


class Reporting:
    """The threads that send; none where there is no environment to send to.

    Attributes:
        inbox: Commands of the server.
    """

    def __init__(
        self,
        environment: Environment | None,
        journal: Journal,
        outbox: Outbox,
        heartbeat: Callable[[], wire.Heartbeat],
    ) -> None:
        self._client: Client | None = None
        self._postman: Postman | None = None
        self.inbox = Inbox()
        if environment is None:
            return
        client = Client(
            journal,
            Transport.of(environment),
            heartbeat,
            flush_seconds=environment.flush_seconds,
        )
        self._client, self.inbox = client, client.inbox
        client.start()
        if journal.rank == 0:
            self._postman = Postman(outbox, Transport.of(environment))
            self._postman.start()
            self._replay_leftovers(environment, journal)

    def wake(self) -> None:
        """Say that the outbox has something new."""
        if self._postman is not None:
            self._postman.wake()

    def close(self, timeout_seconds: float) -> int:
        """Send what is left; returns the number of the last record that the server holds."""
        if self._client is None:
            return 0
        deadline = time.monotonic() + timeout_seconds
        self._client.close(timeout_seconds)
        if self._postman is not None:
            self._postman.close(max(0.5, deadline - time.monotonic()))
        return self._client.acked

    def _replay_leftovers(self, environment: Environment, own: Journal) -> None:
        """Send what an earlier process of this attempt left, beside the training."""
        if all(path.name == own.folder.name for path in journals(environment.folder)):
            return
        threading.Thread(
            target=_replay, args=(environment,), name="safehold-replay", daemon=True
        ).start()


def _replay(environment: Environment) -> None:
    transport = Transport.of(environment)
    try:
        done = replay(environment.folder, transport, registrations=False)
        logger.info("replay.done", extra={"num_records": done.num_records, "left": done.left})
    except Exception:
        logger.exception("replay.failed")
    finally:
        transport.close()
