"""Course of the learning rate after the warmup."""

from safehold.rulebook.base import Condition, Family, Rule

_THREE_PART = Condition("schedule", "=", "three_part")
_SOURCE = "Hu et al. 2024, section 4, arXiv 2404.06395; Hägele et al. 2024, arXiv 2405.18392"

FAMILY = Family(
    name="schedule",
    requirement="CONF-5",
    title="Schedule",
    rules=(
        Rule(
            id="schedule.decays", topic="schedule.decays", quantity="schedule", words=("cosine", "linear", "three_part"),
            reason="A rate that never falls leaves the loss above where a decay would have brought it.",
            source="Hoffmann et al. 2022, figure A1, arXiv 2203.15556",
            advice="Cosine to a tenth of the peak is the safe choice.",
        ),
        Rule(
            id="schedule.held", topic="schedule.held", quantity="held share", conditions=(_THREE_PART,), low=0.5, high=0.7,
            reason="The three-part schedule holds its peak for about 60 % of the run.", source=_SOURCE,
        ),
        Rule(
            id="schedule.decay", topic="schedule.decay", quantity="decay share", conditions=(_THREE_PART,), low=0.1, high=0.3,
            reason="The decay, about 20 % of the run, is where most of the loss is won.", source=_SOURCE,
        ),
    ),
)  # fmt: skip
