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
            source="Loshchilov and Hutter 2019, arXiv 1711.05101 (the method); Brown et al. 2020, appendix B, arXiv 2005.14165, and Touvron et al. 2023, section 2.2, arXiv 2307.09288 (0.1); Hu et al. 2022, table 11, arXiv 2106.09685 (0.01)",
        ),
        Rule(
            id="weight_decay.lora", topic="weight_decay", quantity="weight decay",
            conditions=(Condition("method", "=", "lora"),), low=0, high=0.1,
            reason="Adapters are few and begin at zero; they may go without.",
            source="Dettmers et al. 2023, arXiv 2305.14314, released commands (0); Hu et al. 2022, appendix D, arXiv 2106.09685 (0 to 0.1)",
        ),
    ),
)  # fmt: skip
