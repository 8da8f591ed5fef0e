"""Warmup, in optimizer updates."""

from safehold.rulebook.base import Condition, Family, Rule

_THREE_PART = Condition("schedule", "=", "three_part")
_WHY = "Adam's second moment is unreliable in the first updates: without a warmup they are far too large."

FAMILY = Family(
    name="warmup",
    requirement="CONF-5",
    title="Warmup",
    rules=(
        Rule(
            id="warmup.pretrain", topic="warmup", quantity="warmup share", stages=("pretrain", "continued"),
            low=0.005, high=0.05, reason=f"{_WHY} A longer one wastes tokens at a low rate.",
            source="Pythia, Biderman et al. 2023, arXiv 2304.01373, released configs (1 %); the span is practice; very long runs have less (Brown et al. 2020, appendix B, arXiv 2005.14165: 0.1 %)",
        ),
        Rule(
            id="warmup.pretrain_long", topic="warmup", quantity="warmup", stages=("pretrain",),
            conditions=(Condition("steps", ">=", 10_000),), low=500, high=2000,
            reason=f"{_WHY} How many are needed hardly grows with the length of the run.",
            source="Touvron et al. 2023, section 2.3, arXiv 2302.13971, and OLMo-1B, released config (2,000); Pythia, released configs (1,430); the lower end is practice",
        ),
        Rule(
            id="warmup.pretrain_1b", topic="warmup", quantity="warmup", stages=("pretrain",), min_parameters=1e9, low=2000,
            reason="From 1e9 parameters on a shorter warmup shows as spikes in the first thousands of steps.",
            source="Touvron et al. 2023, section 2.3, arXiv 2302.13971, and section 2.2, arXiv 2307.09288 (2,000 at every size); OLMo, released configs (2,000 at 1e9, 5,000 at 7e9)",
        ),
        Rule(
            id="warmup.pretrain_10b", topic="warmup", quantity="warmup", stages=("pretrain",), min_parameters=1e10,
            low=3000, high=5000,
            reason="The largest networks take the peak rate only after thousands of updates.",
            source="Practice; published runs differ (2,000 at 13 to 70e9: Touvron et al. 2023, section 2.2, arXiv 2307.09288)",
        ),
        Rule(
            id="warmup.fine_tune", topic="warmup", quantity="warmup", stages=("sft", "preference"), low=100, high=500,
            reason="A fine-tuning is short; moments that begin at zero still need a hundred updates.",
            source="Rafailov et al. 2023, appendix B, arXiv 2305.18290 (150); Hu et al. 2022, table 11, arXiv 2106.09685 (500); the lower end is practice",
        ),
        Rule(
            id="warmup.three_part", topic="warmup", quantity="warmup share",
            stages=("pretrain", "continued", "sft", "preference"), conditions=(_THREE_PART,), low=0.15, high=0.25,
            reason="The three-part schedule warms up over about a fifth of the run.",
            source="Practice: 20 % warmup, 60 % hold, 20 % decay",
        ),
    ),
)  # fmt: skip
