"""Make a resumed DistributedDataParallel run add up gradients exactly as an uninterrupted one.

DDP arranges gradients in buckets, and arranges them anew after the first backward pass, in the order in
which they became ready. The sums of three or more ranks depend on the arrangement in the last bit. So
each start, fresh or resumed, goes through two passes that are thrown away.
"""

from __future__ import annotations

from collections.abc import Callable

from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel

from safehold.checkpointing.random_state import preserved

# The first lets DDP see the order, the second is the one before which it rearranges.
_NUM_PASSES = 2


def settle_buckets(network: nn.Module, loss_of: Callable[[nn.Module], Tensor]) -> None:
    """Do throw-away passes until DDP's buckets are final; random state, buffers and gradients stay.

    Args:
        network: Nothing is done unless it is wrapped in DistributedDataParallel.
        loss_of: Computes a loss with the network it is given, on any data; on every rank.
    """
    if not isinstance(network, DistributedDataParallel):
        return
    buffers = {name: buffer.clone() for name, buffer in network.named_buffers()}
    with preserved():
        for _ in range(_NUM_PASSES):
            loss_of(network).backward()  # type: ignore[no-untyped-call]
            network.zero_grad(set_to_none=True)
    for name, buffer in network.named_buffers():
        buffer.copy_(buffers[name])
