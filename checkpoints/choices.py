"""What may be chosen as the base of a card, in the words by which people tell checkpoints apart."""

from collections.abc import Iterable
from dataclasses import dataclass

from checkpoints.models import Checkpoint
from safehold import planning


@dataclass(frozen=True)
class Choice:
    """One checkpoint of a list to choose from.

    Attributes:
        checkpoint: With its run and the run's config.
        parameters: N of its network, 0 where the config does not tell.
    """

    checkpoint: Checkpoint
    parameters: float

    @property
    def tokenizer(self) -> str:
        """The part of the tokenizer's digest that people read; empty: not known."""
        return self.checkpoint.tokenizer_digest.rpartition(":")[2][:8]


def choices_of(checkpoints: Iterable[Checkpoint]) -> list[Choice]:
    """Return them as they are shown."""
    return [Choice(one, _parameters(one)) for one in checkpoints]


def _parameters(checkpoint: Checkpoint) -> float:
    network = checkpoint.run.config.document.get("network") or {}
    return planning.parameters_of(planning.read_kept({"network": network}))
