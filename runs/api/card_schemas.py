"""What the API says of cards."""

from datetime import datetime
from typing import Any

from pydantic import Field

from controlplane.common.api import Output
from runs.api.schemas import ConfigOut


class CardOut(Output):
    """A card with the sum of its compute; `estimate` is null while a number is missing."""

    id: int
    project: str
    name: str
    question: str
    stage: str
    parent: int | None = Field(description="The card that a pilot was made from.")
    pilot: str = Field(description="pilot, mix_pilot or empty.")
    data: dict[str, Any] = Field(
        description="Sections network, data, compute, plan; and the fields beside them."
    )
    owner: str
    created_at: datetime
    updated_at: datetime
    version: str = Field(description="For `If-Match` of a change.")
    parameters: float
    estimate: dict[str, float] | None
    missing_agreements: list[str]


class CardDetailOut(CardOut):
    """A card with all its sums: memory, forecast, intervals, advice, defaults of its stage."""

    sums: dict[str, Any]


class CardChangeOut(Output):
    """One changed field."""

    id: int
    at: datetime
    user: str
    field: str
    old: Any
    new: Any
    reason: str


class PilotOut(Output):
    """The card of a pilot, and its config where the large card had one to shrink."""

    card: CardDetailOut
    config: ConfigOut | None


class RankedMixOut(Output):
    """One mix in its place; the acceptance metrics of the card decide."""

    place: int
    mean_rank: float | None
    name: str
    shares: dict[str, float]
    values: dict[str, float]
    ranks: dict[str, int]


class MixesOut(Output):
    """The mixes of a mix pilot, the best first."""

    items: list[RankedMixOut]


class MixConfigsOut(Output):
    """The configs that were written, one a mix."""

    items: list[ConfigOut]


class ResultsOut(Output):
    """What the newest runs of a card reached, metric by metric."""

    items: list[dict[str, Any]]
