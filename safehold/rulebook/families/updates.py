"""Step counts are counted in optimizer updates."""

from safehold.rulebook.base import Family, Rule

FAMILY = Family(
    name="updates",
    requirement="CONF-6",
    title="Accumulation and step counts",
    rules=(
        Rule(
            id="updates.recomputed", topic="updates", quantity="step counts", words=("recomputed",),
            reason="Warmup and schedule count optimizer updates: with another accumulation the same number of them sees "
            "another number of tokens.",
            source="Practice: common trainers count their schedule in optimizer updates",
            advice="Divide train.steps, optimizer.warmup_steps and optimizer.decay_steps by the growth of the global batch.",
        ),
    ),
)  # fmt: skip
