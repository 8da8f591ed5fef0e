"""What a rule may look at: a config, the one it follows, and what was observed of earlier runs."""

from dataclasses import dataclass

from safehold.config import RunConfig
from safehold.planning.run import parameters_of


@dataclass(frozen=True, kw_only=True)
class Observed:
    """What an earlier run of the same network showed; see `safehold.rulebook.curves`.

    Attributes:
        run: How people call it.
        norm_mean: Of the global gradient norm before clipping, outliers left out.
        norm_deviation: Its standard deviation.
        is_saw_tooth: Late in training the loss climbs slowly and falls at once, again and again.
    """

    run: str
    norm_mean: float | None = None
    norm_deviation: float | None = None
    is_saw_tooth: bool = False


@dataclass(frozen=True, kw_only=True)
class Situation:
    """One config and what is known around it.

    Attributes:
        parent: The config that it follows; None: none, or not known.
        observed: Of an earlier run; None: none.
        first_loss: Of the run itself, begun at nothing; None: not trained yet.
    """

    config: RunConfig
    parent: RunConfig | None = None
    observed: Observed | None = None
    first_loss: float | None = None

    @property
    def parameters(self) -> int | None:
        """N; None where the shape does not give it."""
        return parameters_of(self.config)
