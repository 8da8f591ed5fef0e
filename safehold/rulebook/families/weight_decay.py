"""Decoupled weight decay."""

from safehold.rulebook.base import Condition, Family, Rule

FAMILY = Family(
    name="weight_decay",
    requirement="CONF-5",
    title="Weight decay",
    rules=(
        Rule(
            id="weight_decay.any", topic="weight_decay", quantity="weight decay", low=0.01, high=0.1,
            reason="Above it weights shrink faster than they learn; far below it norms grow through the whole run.",
            source="Loshchilov and Hutter 2019, arXiv 1711.05101; Touvron et al. 2023, section 2.2, arXiv 2307.09288 (0.1)",
        ),
        Rule(
            id="weight_decay.lora", topic="weight_decay", quantity="weight decay",
            conditions=(Condition("method", "=", "lora"),), low=0, high=0.1,
            reason="Adapters are few and begin at zero; they may go without.",
            source="Dettmers et al. 2023, appendix B, arXiv 2305.14314",
        ),
    ),
)  # fmt: skip
