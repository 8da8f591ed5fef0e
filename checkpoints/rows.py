"""What one line of a table says of a checkpoint, and what the page says of its proof."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _

from checkpoints.models import Checkpoint, Verification
from checkpoints.states import State

# What stands first on a page: what blocks, then what is doubtful.
_ORDER = {"fail": 0, "unknown": 1, "warn": 2, "info": 3, "pass": 4}


@dataclass(frozen=True)
class Row:
    """A checkpoint with its open verification."""

    checkpoint: Checkpoint
    open: Verification | None = None

    @property
    def share(self) -> float | None:
        """How much of the open verification is done, 0 to 1; None before it begins."""
        if self.open is None or self.open.state != Verification.State.RUNNING:
            return None
        size = self.checkpoint.size_bytes
        return min(1.0, self.open.progress_bytes / size) if size else None

    @property
    def meaning(self) -> str:
        """The state as a sentence."""
        return _meaning(self.checkpoint)


@dataclass(frozen=True)
class Proof:
    """The verifications of one checkpoint as its page shows them."""

    row: Row
    history: tuple[Verification, ...]

    @property
    def newest(self) -> Verification | None:
        """The newest one that came to a result."""
        return next((item for item in self.history if item.state == Verification.State.DONE), None)

    @property
    def open_findings(self) -> list[dict[str, Any]]:
        """What was found, without what passed; the worst first."""
        findings = self.newest.findings if self.newest else []
        found = [item for item in findings if item["severity"] != "pass"]
        return sorted(found, key=lambda item: _ORDER.get(item["severity"], 1))

    @property
    def passed(self) -> list[dict[str, Any]]:
        """The checks that passed."""
        findings = self.newest.findings if self.newest else []
        return [item for item in findings if item["severity"] == "pass"]

    @property
    def given_up(self) -> Verification | None:
        """The newest one, where it was given up."""
        first = self.history[0] if self.history else None
        return first if first and first.state == Verification.State.FAILED else None

    @property
    def is_moving(self) -> bool:
        """Whether the page should look again soon."""
        return self.row.open is not None or self.row.checkpoint.state == State.WRITING


def rows_of(checkpoints: Iterable[Checkpoint]) -> list[Row]:
    """Return the lines of checkpoints that a selector read with `open_verifications`."""
    return [
        Row(item, next(iter(getattr(item, "open_verifications", ())), None)) for item in checkpoints
    ]


def proof_of(checkpoint: Checkpoint) -> Proof:
    """Read the verifications of a checkpoint, the newest first."""
    history = tuple(checkpoint.verifications.select_related("requested_by").order_by("-pk")[:20])
    open_one = next((item for item in history if item.is_open), None)
    return Proof(Row(checkpoint, open_one), history)


def _meaning(checkpoint: Checkpoint) -> str:
    texts = {
        State.WRITING: _("It is being saved; until that is done there is no checkpoint."),
        State.COMPLETE: _("Every byte is on stable storage; it is not proved yet."),
        State.VERIFIED: _("Every byte is as it was written, and the whole state can be restored."),
        State.STABLE: _("Verified, and the loss stayed healthy after it: recovery prefers it."),
        State.DAMAGED: _("It is no recovery point: no run may begin from it."),
        State.FAILED: _("It was never saved; there is nothing to restore."),
        State.DELETING: _("Its files are being removed."),
        State.DELETED: _("Its files were removed; the record stays."),
    }
    return texts[State(checkpoint.state)]
