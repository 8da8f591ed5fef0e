"""One file for each form that a checkpoint file can have; none of them runs code from a file."""
