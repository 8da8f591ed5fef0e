"""The registry: checkpoints, proofs about them, and what was started from them."""

from checkpoints.models.checkpoint import Checkpoint
from checkpoints.models.lineage import StartedFrom
from checkpoints.models.verification import Verification

__all__ = ["Checkpoint", "StartedFrom", "Verification"]
