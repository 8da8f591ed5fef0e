"""A small but whole training: demo, smoke runs and tests use it, and it shows how the parts fit."""
