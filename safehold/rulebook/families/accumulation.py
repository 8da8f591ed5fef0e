"""What is declared of the micro-batches of one update."""

from safehold.rulebook.base import Family, Rule

FAMILY = Family(
    name="accumulation",
    requirement="CONF-7",
    title="Accumulation",
    rules=(
        Rule(
            id="accumulation.divided", topic="accumulation.divided", quantity="divided loss", words=("averaged",), outside="fail",
            reason="The sum over micro-batches multiplies every gradient by their number, and so the clip and the moments.",
            source="PyTorch documentation, automatic mixed precision examples, gradient accumulation (the loss divided by the iterations to accumulate)",
            advice="Divide each loss by train.accumulation (`run.accumulate(loss)` does), and declare train.divide_loss = true.",
        ),
        Rule(
            id="accumulation.clipping", topic="accumulation.clipping", quantity="clipping", words=("update",), outside="fail",
            reason="Clipped after every micro-batch, partial sums are cut at another length than the whole gradient.",
            source="PyTorch documentation, automatic mixed precision examples, gradient accumulation (gradients are unscaled and clipped once all of an update are added up)",
            advice="Clip once, after the last micro-batch and before the update: run.guard.after_backward(model, loss).",
        ),
    ),
)  # fmt: skip
