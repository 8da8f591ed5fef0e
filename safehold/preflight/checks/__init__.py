"""One file per check; each registers itself."""
