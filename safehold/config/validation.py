"""From a plain document to a `RunConfig`, or to every fault by the name of its field."""

import difflib
import math
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from safehold.config.errors import STEPS, ConfigError, ConfigInvalid
from safehold.config.fields import section_of
from safehold.config.rules import broken_rules
from safehold.config.schema import RunConfig

Document = TypeVar("Document", bound=BaseModel)

# Where pydantic speaks of Python's types.
WORDS = {
    "tuple_type": "It should be a list",
    "dict_type": "It should be a table",
    "model_type": "It should be a table of fields",
    "bool_type": "It should be true or false",
}
STEP_FIELDS = frozenset(
    {
        "train.steps",
        "train.eval_every",
        "train.accumulation",
        "optimizer.warmup_steps",
        "optimizer.decay_steps",
        "checkpoint.anchor_every_steps",
        "checkpoint.snapshot_every_steps",
        "log.every",
    }
)


def parse(document: Mapping[str, Any], lines: Mapping[str, int] | None = None) -> RunConfig:
    """Read a document whose values are plain (dict, list, str, int, float, bool).

    Args:
        document: As TOML, YAML 1.2 or JSON gave it.
        lines: Line of the text for each dotted path, for the messages.

    Raises:
        ConfigInvalid: With every fault. Rules over several fields are asked once each field is sound by itself.
    """
    places = lines or {}
    config = parse_as(RunConfig, document, places)
    if faults := broken_rules(config):
        raise ConfigInvalid([_placed(fault, places) for fault in faults])
    return config


def parse_as(
    model: type[Document], document: Mapping[str, Any], lines: Mapping[str, int] | None = None
) -> Document:
    """Read any document made of sections, a card for instance.

    Raises:
        ConfigInvalid: With every fault, by the path of its field.
    """
    try:
        return model.model_validate(dict(document))
    except ValidationError as error:
        faults = [_from_pydantic(details, model) for details in error.errors()]
    raise ConfigInvalid([_placed(fault, lines or {}) for fault in faults])


def validate(document: Mapping[str, Any]) -> list[ConfigError]:
    """Return the faults of a document; empty means that `parse` takes it."""
    try:
        parse(document)
    except ConfigInvalid as invalid:
        return invalid.errors
    return []


def _placed(fault: ConfigError, lines: Mapping[str, int]) -> ConfigError:
    path = fault.path
    while path and path not in lines:
        path = path.rpartition(".")[0]
    return replace(fault, line=lines.get(path))


def _from_pydantic(details: ErrorDetails, root: type[BaseModel]) -> ConfigError:
    path = ".".join(str(part) for part in details["loc"] if part != "[key]")
    value, kind = details["input"], details["type"]
    code = STEPS if path in STEP_FIELDS else ConfigError.code
    if kind == "missing":
        return ConfigError(path, "It is missing and has no default.", code=code)
    if kind == "extra_forbidden":
        return ConfigError(path, "There is no such field.", _near(path, root))
    return ConfigError(
        path, f"{_in_words(details)}; it is {_shown(value)}.", _hint(value, kind), code=code
    )


def _in_words(details: ErrorDetails) -> str:
    """Return what pydantic says of a value, which counts a text once as a string and once as items."""
    said = WORDS.get(details["type"]) or re.sub(
        r"^(Value error, |Input |String |Value (?=should))", "It ", details["msg"]
    )
    if isinstance(details["input"], str):
        said = re.sub(r"(\d+) item(s?) after validation, not \d+$", r"\1 character\2", said)
    return said


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _hint(value: object, kind: str) -> str:
    if isinstance(value, str) and kind in {"float_type", "int_type", "bool_type"}:
        return "Write it without quotes." if _is_number(value) or kind == "bool_type" else ""
    if kind == "int_type" and isinstance(value, float):
        return "Write a whole number without a point or exponent."
    return ""


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False


def _near(path: str, root: type[BaseModel]) -> str:
    *sections, name = path.split(".")
    model = root
    for section in sections:
        field = model.model_fields.get(section)
        inner = section_of(field) if field is not None else None
        if inner is None:
            return ""
        model = inner
    close = difflib.get_close_matches(name, list(model.model_fields), n=1)
    return f"Did you mean {'.'.join([*sections, close[0]])}?" if close else ""
