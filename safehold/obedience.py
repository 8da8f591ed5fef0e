"""Doing at a step boundary what the ranks agreed on: save, pause and hold, save and stop."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from typing import Protocol

from safehold import wire
from safehold.agreement import NOTHING, PAUSE, RESUME, SAVE, STOP, WISHES, Agreement
from safehold.commands import Inbox
from safehold.statusfile import Phase

logger = logging.getLogger(__name__)

HOLD_SECONDS = 0.25  # between two looks while paused: a person waits for the answer


class Trainer(Protocol):
    """What is asked of a run."""

    phase: wire.Phase

    def save(self, step: int) -> str:
        """Save an anchor; return what to say about it.

        Raises:
            Exception: it was not saved.
        """

    def tell(self, what: str, step: int) -> None:
        """Keep a turn of events in the timeline."""

    def mark(self, phase: Phase) -> None:
        """Tell the process wrapper how far the run is."""


class Obedience:
    """Commands and signals, as one wish a step.

    Attributes:
        stopped: The training ends here because it was asked to.
    """

    def __init__(
        self, trainer: Trainer, inbox: Inbox, agreement: Agreement, asked: Callable[[], bool]
    ) -> None:
        self.stopped = False
        self._trainer = trainer
        self._inbox = inbox
        self._agreement = agreement
        self._asked = asked

    def boundary(self, step: int) -> bool:
        """Agree and act after a step; returns whether the training ends here.

        Raises:
            PeersGone: another rank has died.
            Exception: the save before a stop failed; a stop that saved nothing is no stop.
        """
        return self._act(self._agreement.next(self._wish()), step)

    def end(self) -> None:
        """Leave nothing pending."""
        self._agreement.end()

    def _wish(self) -> int:
        if self._asked():
            return STOP
        while (command := self._inbox.peek("resume")) is not None:
            self._inbox.take("resume")
            self._inbox.refused(command, "The run is not paused.")
        command = self._inbox.peek()
        return WISHES[command.kind] if command else NOTHING

    def _act(self, agreed: int, step: int) -> bool:
        if agreed == SAVE:
            self._save(step)
        elif agreed == PAUSE:
            return self._pause(step)
        elif agreed == STOP:
            self._stop(step)
        return self.stopped

    def _save(self, step: int) -> None:
        command = self._inbox.take("save")
        try:
            said = self._trainer.save(step)
        except Exception as error:
            logger.exception("run.save_failed", extra={"step": step})
            self._inbox.refused(command, f"Step {step} was not saved: {error}")
        else:
            self._inbox.applied(command, said)

    def _stop(self, step: int) -> None:
        command = self._inbox.take("save_and_stop")
        self._trainer.tell("stopping", step)
        try:
            said = self._trainer.save(step)
        except Exception as error:
            self._inbox.refused(command, f"Step {step} was not saved: {error}")
            raise
        self._trainer.mark("stopped")
        self._inbox.applied(command, said)
        self.stopped = True

    def _pause(self, step: int) -> bool:
        command = self._inbox.take("pause")
        try:
            said = self._trainer.save(step)
        except Exception as error:
            logger.exception("run.save_failed", extra={"step": step})
            self._inbox.refused(command, f"Not paused: step {step} was not saved: {error}")
            return False
        self._trainer.phase = "paused"
        self._trainer.mark("paused")
        self._trainer.tell("paused", step)
        self._inbox.applied(command, said)
        return self._hold(step)

    def _hold(self, step: int) -> bool:
        while True:
            time.sleep(HOLD_SECONDS)
            agreed = self._agreement.now(self._wish_while_paused())
            if agreed == STOP:
                self._stop(step)
                return True
            if agreed == RESUME:
                self._resume(step)
                return False

    def _wish_while_paused(self) -> int:
        for kind in ("pause", "save"):
            while (command := self._inbox.take(kind)) is not None:
                self._inbox.applied(command, "Paused already; saved at this step.")
        if self._asked() or self._inbox.peek("save_and_stop"):
            return STOP
        return RESUME if self._inbox.peek("resume") else NOTHING

    def _resume(self, step: int) -> None:
        self._inbox.applied(self._inbox.take("resume"))
        self._trainer.mark("training")
        self._trainer.phase = "training"
        self._trainer.tell("resumed", step)
