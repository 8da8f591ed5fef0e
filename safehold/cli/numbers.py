"""Numbers of options: the parser takes `nan` and `inf`."""

import math

import typer


def finite(value: float | None) -> float | None:
    """Return the value of an option that counts something.

    Raises:
        BadParameter: It is no finite number.
    """
    if value is not None and not math.isfinite(value):
        raise typer.BadParameter(f"{value} is not a finite number.")
    return value
