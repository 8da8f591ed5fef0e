"""One file a family; a file added here is asked by the check of its name."""
