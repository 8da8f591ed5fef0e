"""What is wrong with a config, said by field."""

from collections.abc import Sequence
from dataclasses import dataclass

FIELDS = "CONF-3.config_fields"
STEPS = "CONF-2.step_counts"


@dataclass(frozen=True)
class ConfigError:
    """One fault.

    Attributes:
        path: Dotted name of the field, `optimizer.lr`; empty for the document as a whole.
        message: What is wrong, with the value.
        hint: What to do about it, or empty.
        line: Line of the text, where known.
        code: The preflight check that reports it.
    """

    path: str
    message: str
    hint: str = ""
    line: int | None = None
    code: str = FIELDS

    def __str__(self) -> str:
        place = f"line {self.line}: " if self.line else ""
        subject = f"{self.path}: " if self.path else ""
        return f"{place}{subject}{self.message}" + (f" {self.hint}" if self.hint else "")


class ConfigInvalid(ValueError):
    """A document is no run config.

    Attributes:
        errors: Every fault found, in the order of the document.
    """

    def __init__(self, errors: Sequence[ConfigError]) -> None:
        super().__init__("; ".join(str(error) for error in errors))
        self.errors = list(errors)
