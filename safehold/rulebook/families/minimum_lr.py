"""Where the learning rate ends."""

from safehold.rulebook.base import Condition, Family, Rule

_DECAYS = Condition("schedule", "!=", "constant")

FAMILY = Family(
    name="minimum_lr",
    requirement="CONF-5",
    title="Minimum learning rate",
    rules=(
        Rule(
            id="minimum_lr.any", topic="minimum_lr", quantity="minimum over peak", conditions=(_DECAYS,), low=1 / 30, high=1 / 10,
            reason="Below it the last updates do nothing, above it the loss does not settle.",
            source="Hoffmann et al. 2022, appendix B, arXiv 2203.15556 (a tenth; a fifth is clearly worse); down to a thirtieth is practice",
            advice="A tenth to a thirtieth of the peak is usual.",
        ),
    ),
)  # fmt: skip
