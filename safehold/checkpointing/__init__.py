"""Save a training's whole state so that no crash can harm it, and load it back or say why not."""
