"""A batch that grew, and the rate with it."""

from safehold.rulebook.base import Condition, Family, Rule

_GREW = Condition("growth of the batch", ">", 1)

FAMILY = Family(
    name="batch_and_lr",
    requirement="CONF-6",
    title="Batch and learning rate",
    rules=(
        Rule(
            id="batch_and_lr.root", topic="batch_and_lr.root", quantity="rate over root of batch", conditions=(_GREW,), high=1,
            reason="Twice the global batch allows at most √2 times the rate: the noise of Adam's updates falls with the root.",
            source="Malladi et al. 2022, arXiv 2205.10287 (square-root scaling of Adam's rate); Krizhevsky 2014, page 5, arXiv 1404.5997",
            advice="Leave the rate as it was, or raise it by the root of the growth of the batch.",
        ),
        Rule(
            id="batch_and_lr.warmup", topic="batch_and_lr.warmup", quantity="warmup after batch", conditions=(_GREW,), low=1, is_open=True,
            reason="A larger batch with a higher rate asks for a longer warmup.",
            source="Goyal et al. 2017, section 2.2, arXiv 1706.02677 (for SGD); that Adam needs it likewise is practice",
            advice="Raise optimizer.warmup_steps by the growth of the batch.",
        ),
        Rule(
            id="batch_and_lr.order", topic="batch_and_lr.order", quantity="what grew", conditions=(_GREW,), words=("batch alone",),
            outside="info",
            reason="The safe order is the batch first, with the rate unchanged, and the rate in a second run.",
            source="Practice: one variable at a time",
            advice="Train with the larger batch and the old rate first.",
        ),
    ),
)  # fmt: skip
