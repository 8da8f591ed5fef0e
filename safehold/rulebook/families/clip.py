"""Largest norm of the gradient."""

from safehold.rulebook.base import Condition, Family, Rule

FAMILY = Family(
    name="clip",
    requirement="CONF-5",
    title="Gradient clip",
    rules=(
        Rule(
            id="clip.any", topic="clip", quantity="clip", low=0.5, high=1.0,
            reason="A higher clip lets spikes through, a lower one changes most updates.",
            source="Pascanu et al. 2013, section 3.2, arXiv 1211.5063 (the method); Brown et al. 2020, appendix B, arXiv 2005.14165, and Touvron et al. 2023, section 2.2, arXiv 2307.09288 (1.0); down to 0.5 is practice",
            advice="Better: 3σ above the norm that a smoke run shows.",
        ),
        Rule(
            id="clip.starves", topic="clip", quantity="clip", conditions=(Condition("clip", "<=", 0.1),), low=0.5, high=1.0,
            reason="A clip of 0.1 or less starves the update: nearly every gradient is cut to a fraction of itself.",
            source="Practice",
            advice="Choose 0.5 to 1.0.",
        ),
        Rule(
            id="clip.three_sigma", topic="clip.three_sigma", quantity="clip over 3σ", low=0.5, high=2.0, outside="info",
            conditions=(Condition("clip over 3σ", ">=", 0),),
            reason="The norms of an earlier run say where spikes begin: 3σ above their mean.",
            source="Practice: the three-sigma bound of the observed norm",
            advice="Set the clip to mean + 3σ of the observed norm.",
        ),
    ),
)  # fmt: skip
