"""What every section of a typed document is made of: strict types, described fields, text without controls."""

import math
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, field_validator

PATH_CHARACTERS = 4096  # PATH_MAX of Linux
LARGEST_INTEGER = 2**63 - 1  # what the database, the wire and most readers of JSON can hold


def plain_text(value: str) -> str:
    """Refuse characters that no file name, log line or PostgreSQL text can carry."""
    return _without_controls(value, "")


def prose(value: str) -> str:
    """Take line breaks and tabs too."""
    return _without_controls(value, "\n\r\t")


def _without_controls(value: str, allowed: str) -> str:
    for character in value:
        if (ord(character) < 32 or ord(character) == 127) and character not in allowed:
            raise ValueError(f"holds the control character U+{ord(character):04X}")
        if 0xD800 <= ord(character) <= 0xDFFF:
            raise ValueError(f"holds half of a surrogate pair, U+{ord(character):04X}")
    return value


def as_tuple(value: object) -> object:
    """Take the list that TOML, YAML and JSON give for a pair."""
    return tuple(value) if isinstance(value, list) else value


Text = Annotated[str, AfterValidator(plain_text)]
Prose = Annotated[str, AfterValidator(prose)]
Path = Annotated[str, Field(max_length=PATH_CHARACTERS), AfterValidator(plain_text)]


def describe(
    title: str,
    description: str,
    *,
    unit: str = "",
    example: Any = None,
    only_with: tuple[str, str] | None = None,
    form: str = "",
    **bounds: Any,
) -> Any:
    """Return a pydantic field; without `default` it must be given, and a form then starts with `example`.

    `only_with` is the path and the value of the field that decides whether a section is there; `form` is what a form
    asks for where the type does not tell.
    """
    extra: dict[str, Any] = {"unit": unit}
    if example is not None:
        extra["example"] = example
    if form:
        extra["form"] = form
    if only_with is not None:
        extra["only_with"] = list(only_with)
    return Field(title=title, description=description, json_schema_extra=extra, **bounds)


class Section(BaseModel):
    """A part of the config: strict types, no unknown names, never changed once read."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, allow_inf_nan=False)

    @field_validator("*", mode="before")
    @classmethod
    def _storable(cls, value: Any) -> Any:
        """Refuse numbers that nothing behind us can hold, also where a field has no bound of its own.

        PostgreSQL's jsonb writes 1e20 out in digits, so a large float comes back as a whole number.
        """
        if isinstance(value, int | float) and LARGEST_INTEGER < abs(value) < math.inf:
            raise ValueError("has more digits than a 64-bit number")
        return value
