"""The demo run: a small network on text that every machine has."""


def main() -> int:
    """Make and launch it."""
    return 0
