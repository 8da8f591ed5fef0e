"""The loss of a network that knows nothing."""

from safehold.planning.network import FAR_ABOVE, FAR_BELOW
from safehold.rulebook.base import Family, Rule

FAMILY = Family(
    name="starting_loss",
    requirement="PLAN-4",
    title="Starting loss",
    rules=(
        Rule(
            id="starting_loss.baseline", topic="starting_loss", quantity="starting loss", stages=("pretrain",), low=0,
            reason="Uniform guesses over V tokens cost ln(V) nats: 10.8 for 50,000 tokens.",
            source="Entropy of the uniform distribution",
        ),
        Rule(
            id="starting_loss.first", topic="starting_loss.first", quantity="first loss", low=FAR_BELOW, high=FAR_ABOVE,
            reason="A fresh network guesses nearly uniformly.",
            below="Far below it: evaluation data may overlap training data, or the network is not a fresh one.",
            above="Far above it: look at the initialisation, and at whether labels are shifted by one.",
            advice="Compare the first batch, decoded, with what the network is asked to predict.",
            source="Entropy of the uniform distribution; the span is ours: initialisations differ by a few percent",
        ),
    ),
)  # fmt: skip
