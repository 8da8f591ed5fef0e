"""Prove that a checkpoint is whole and can be restored, without running anything from it."""

from safehold.checkpointing.verification.verify import Verification, verify

__all__ = ["Verification", "verify"]
