"""Precision of the passes and of the optimizer states."""

from safehold.rulebook.base import Condition, Family, Rule

FAMILY = Family(
    name="precision",
    requirement="CONF-5",
    title="Precision",
    rules=(
        Rule(
            id="precision.passes", topic="precision.passes", quantity="precision", words=("bf16", "fp32"),
            reason="bf16 before fp16: it has the range of fp32, so that nothing overflows and no loss scale can collapse.",
            source="Kalamkar et al. 2019, arXiv 1905.12322",
            advice="Use bf16 where the devices have it.",
        ),
        Rule(
            id="precision.loss_scaling", topic="precision.loss_scaling", quantity="loss scaling",
            conditions=(Condition("precision", "=", "fp16"),), words=("dynamic",), outside="fail",
            reason="Gradients below 6e-8 vanish in fp16, and a fixed scale overflows as they change.",
            source="Micikevicius et al. 2018, section 3.2, arXiv 1710.03740 (scaling); that it be dynamic is practice, as in PyTorch's GradScaler",
            advice='Set train.loss_scaling = "dynamic".',
        ),
        Rule(
            id="precision.states", topic="precision.states", quantity="state precision", words=("fp32",),
            reason="Updates are smaller than the last bit of 16-bit weights and moments: training stalls without a word.",
            source="Micikevicius et al. 2018, section 3.1, arXiv 1710.03740 (master weights); of the moments it is practice",
            advice="Keep moments and master weights in fp32.",
        ),
    ),
)  # fmt: skip
