"""Decay of Adam's moments."""

from safehold.rulebook.base import Condition, Family, Rule

FAMILY = Family(
    name="betas",
    requirement="CONF-5",
    title="Betas",
    rules=(
        Rule(
            id="betas.beta1", topic="betas.beta1", quantity="beta1", low=0.85, high=0.95,
            reason="A mean over about ten updates is what published recipes use.",
            source="Kingma and Ba 2015, section 2, arXiv 1412.6980 (0.9); the span around it is practice",
        ),
        Rule(
            id="betas.beta2_pretrain", topic="betas.beta2", quantity="beta2", stages=("pretrain",), low=0.95, high=0.95,
            reason="A second moment that remembers a thousand updates cannot follow a jump of the gradients: the loss spikes.",
            source="Brown et al. 2020, appendix B, arXiv 2005.14165; Touvron et al. 2023, section 2.2, arXiv 2307.09288; OLMo and Pythia, released configs (all 0.95)",
            advice="Set optimizer.betas to [0.9, 0.95].",
        ),
        Rule(
            id="betas.beta2_continued", topic="betas.beta2", quantity="beta2", stages=("continued",), low=0.95, high=0.999,
            reason="Continued training keeps that of the first training or goes towards that of fine-tuning.",
            source="Practice: between the spans of pretraining and fine-tuning",
        ),
        Rule(
            id="betas.beta2_fine_tune", topic="betas.beta2", quantity="beta2", stages=("sft", "preference"), low=0.99, high=0.999,
            reason="Batches are small and gradients noisy: the second moment is averaged over more updates.",
            source="Kingma and Ba 2015, section 2, arXiv 1412.6980 (0.999); LoRA and QLoRA, released commands (0.999); the lower end is practice",
            advice="Set optimizer.betas to [0.9, 0.999].",
        ),
        Rule(
            id="betas.saw_tooth", topic="betas.saw_tooth", quantity="saw-tooth",
            conditions=(Condition("beta2", ">=", 0.999),), words=("smooth",),
            reason="With β2 = 0.999 a loss that climbs slowly and falls at once comes from a second moment that lags behind.",
            source="Wortsman et al. 2023, arXiv 2304.13013 (spikes follow an under-estimated second moment); that 0.95 answers a saw-tooth is practice",
            advice="Set β2 to 0.95.",
        ),
    ),
)  # fmt: skip
