"""What the forward pass keeps for the backward pass.

Per token, layer and hidden unit a transformer keeps in 16 bits, without dropout masks counted apart: both norms 4
bytes, attention 11, the feed-forward part 3 + 4 m with an inner width of m: 34 at m = 4. Attention must not keep its
weights, which every fused kernel sees to, and tensor parallelism must shard the sequence too.

Source:
    Korthikanti et al. 2022, section 4, https://arxiv.org/abs/2205.05198
"""

ACTIVATION_FACTOR = 34.0
CHECKPOINTING_DIVISOR = 5.0  # the careful end of the 5 to 10 times that are reported
CHECKPOINTING_TIME = (0.2, 0.3)  # what recomputing adds to a step
# Per logit while the loss is taken back: its log-softmax and two gradients, all in fp32 whatever the precision.
LOGIT_BYTES = 12


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
        vocabulary: Rows of the output; 0 leaves the logits out.
        checkpointing: Recompute most of it.
        tensor_parallel: Devices that share a layer.
        pipeline_parallel: Stages.
        num_in_flight: Micro-batches that the first stage has begun and not taken back.
    """
    stage = tokens * hidden * layers * factor / (tensor_parallel * pipeline_parallel)
    if checkpointing:
        stage /= CHECKPOINTING_DIVISOR
    head = tokens * vocabulary * LOGIT_BYTES / tensor_parallel
    # The first stage holds most micro-batches, the last one the logits.
    return max(stage * num_in_flight, stage + head) if pipeline_parallel > 1 else stage + head
