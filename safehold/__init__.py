"""Safehold in the training pod, in the worker and on a laptop."""
