"""What the forward pass keeps for the backward pass.

Per token, layer and hidden unit a transformer keeps in 16 bits, without dropout masks counted apart: both norms 4
bytes, attention 11, the feed-forward part 3 + 4 m with an inner width of m: 34 at m = 4. Attention must not keep its
weights, which every fused kernel sees to, and tensor parallelism must shard the sequence too.

Source:
    Korthikanti et al. 2022, section 4, https://arxiv.org/abs/2205.05198
"""

# What plain torch keeps beyond fused kernels, in bytes per token, layer and hidden unit: both norms keep the
# normalised input too, rotary positions their inputs beside their outputs, attention a contiguous copy of its output;
# under autocast the residual stream and both norms stay in fp32. Counted in docs/explanation/planning.md.
EAGER_BYTES = 16.0
CHECKPOINTING_DIVISOR = 5.0  # the careful end of the 5 to 10 times that are reported
CHECKPOINTING_TIME = (0.2, 0.3)  # what recomputing adds to a step
# Per logit while the loss is taken back: its log-softmax and two gradients, all in fp32 whatever the precision.
LOGIT_BYTES = 12
LAST_NORM_VALUES = (
    3  # its input, the normalised input and its output, of each token and hidden unit
)


def activation_factor(
    ffn_multiple: float = 4.0, *, gated: bool = False, experts_per_token: int = 1
) -> float:
    """Return bytes per token, layer and hidden unit in 16 bits.

    Args:
        ffn_multiple: Inner width over hidden size, of one expert.
        gated: Keeps gate, its activation, the other branch and the product instead of two tensors of the inner width.
        experts_per_token: Each keeps its own.
    """
    inner = (8 if gated else 4) * ffn_multiple
    return 18.0 + inner * max(1, experts_per_token)


def activations_bytes(
    *,
    tokens: int,
    hidden: int,
    layers: int,
    factor: float,
    vocabulary: int = 0,
    value_bytes: float = 2,
    checkpointing: bool = False,
    tensor_parallel: int = 1,
    pipeline_parallel: int = 1,
    num_in_flight: int = 1,
) -> float:
    """Return the activations of the device that keeps most.

    Args:
        tokens: Of one micro-batch.
        hidden: Width of the residual stream.
        layers: Of the whole network.
        factor: Bytes per token, layer and hidden unit.
        vocabulary: Rows of the output; 0 leaves the last norm and the logits out.
        value_bytes: Of a value that the last norm keeps.
        checkpointing: Recompute most of it.
        tensor_parallel: Devices that share a layer.
        pipeline_parallel: Stages.
        num_in_flight: Micro-batches that the first stage has begun and not taken back.
    """
    stage = tokens * hidden * layers * factor / (tensor_parallel * pipeline_parallel)
    if checkpointing:
        stage /= CHECKPOINTING_DIVISOR
    norm = LAST_NORM_VALUES * value_bytes * hidden if vocabulary else 0
    head = tokens * (vocabulary * LOGIT_BYTES + norm) / tensor_parallel
    # The first stage holds most micro-batches, the last one the logits.
    return max(stage * num_in_flight, stage + head) if pipeline_parallel > 1 else stage + head
