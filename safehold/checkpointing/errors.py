"""What can go wrong with a checkpoint, each with a sentence for the operator."""

from __future__ import annotations


class CheckpointError(RuntimeError):
    """A checkpoint could not be saved or loaded."""


class SaveError(CheckpointError):
    """A save did not happen; the checkpoints before it are untouched."""


class RestoreError(CheckpointError):
    """A checkpoint was refused; nothing of it was loaded."""
