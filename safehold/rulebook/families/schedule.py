"""Course of the learning rate after the warmup."""

from safehold.rulebook.base import Condition, Family, Rule

_THREE_PART = Condition("schedule", "=", "three_part")
_SOURCE = (
    "Hu et al. 2024, section 4, arXiv 2404.06395 (a decay of 10 %); Hägele et al. 2024, arXiv 2405.18392 (of 20 %); "
    "the spans are practice"
)

FAMILY = Family(
    name="schedule",
    requirement="CONF-5",
    title="Schedule",
    rules=(
        Rule(
            id="schedule.decays", topic="schedule.decays", quantity="schedule", words=("cosine", "linear", "three_part"),
            reason="A rate that never falls leaves the loss above where a decay would have brought it.",
            source="Hägele et al. 2024, arXiv 2405.18392 (a cooldown reaches what cosine reaches); Hoffmann et al. 2022, appendix B, arXiv 2203.15556 (cosine to a tenth)",
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
