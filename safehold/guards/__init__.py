"""What acts within a training step."""
