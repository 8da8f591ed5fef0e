"""The launchers, found by name; a file in this folder registers itself with `@launcher`."""
