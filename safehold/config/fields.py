"""The fields of a config as a flat list: what a form, the reference page and a diff need to know of each."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal, get_args, get_origin

from annotated_types import Ge, Gt, Le, Lt
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from safehold.config.schema import RunConfig

Form = Literal["text", "choice", "integer", "number", "flag", "numbers", "words", "shares", "rows"]


@dataclass(frozen=True)
class FieldSpec:
    """One field.

    Attributes:
        path: Dotted name, `optimizer.lr`.
        section: Name of its section, empty at the top.
        title: Label of a form.
        description: Help text.
        unit: Unit of the value, or empty.
        form: What is typed: text, choice, integer, number, flag, numbers, words (a command), shares (name = share),
            rows (a list of sections).
        choices: Of a choice.
        required: It has no default.
        default: Value when it is not given.
        example: What a form starts with: the default, or a typical value of a required field.
        bounds: In words, `> 0, <= 10`.
    """

    path: str
    section: str
    title: str
    description: str
    unit: str
    form: Form
    choices: tuple[str, ...]
    required: bool
    default: Any
    example: Any
    bounds: str


def all_fields() -> tuple[FieldSpec, ...]:
    """Return every field of a run config in the order of the schema."""
    return fields_of(RunConfig)


@cache
def fields_of(model: type[BaseModel]) -> tuple[FieldSpec, ...]:
    """Return every field of a document made of sections, in its order."""
    return tuple(_walk(model, ""))


def field_at(path: str) -> FieldSpec | None:
    """Return the field of a dotted path, or None."""
    return next((spec for spec in all_fields() if spec.path == path), None)


def _walk(model: type[BaseModel], section: str) -> Iterator[FieldSpec]:
    for name, info in model.model_fields.items():
        if isinstance(info.annotation, type) and issubclass(info.annotation, BaseModel):
            yield from _walk(info.annotation, name)
        else:
            yield _spec(name, section, info)


def _spec(name: str, section: str, info: FieldInfo) -> FieldSpec:
    extra = info.json_schema_extra if isinstance(info.json_schema_extra, dict) else {}
    required = info.is_required()
    default = None if required else info.get_default(call_default_factory=True)
    return FieldSpec(
        path=f"{section}.{name}" if section else name,
        section=section,
        title=info.title or name,
        description=info.description or "",
        unit=str(extra.get("unit", "")),
        form=_form(info.annotation),
        choices=tuple(str(choice) for choice in get_args(info.annotation))
        if _is_choice(info)
        else (),
        required=required,
        default=default,
        example=extra.get("example", default),
        bounds=_bounds(info),
    )


def _form(annotation: Any) -> Form:
    plain: dict[Any, Form] = {str: "text", int: "integer", float: "number", bool: "flag"}
    if annotation in plain:
        return plain[annotation]
    origin = get_origin(annotation)
    if origin is Literal:
        return "choice"
    if origin is dict:
        return "shares"
    if any(isinstance(part, type) and issubclass(part, BaseModel) for part in get_args(annotation)):
        return "rows"
    return "words" if Ellipsis in get_args(annotation) else "numbers"


def _is_choice(info: FieldInfo) -> bool:
    return get_origin(info.annotation) is Literal


def _bounds(info: FieldInfo) -> str:
    words = []
    for bound in info.metadata:
        for kind, sign, value in (
            (Ge, ">=", "ge"),
            (Gt, ">", "gt"),
            (Le, "<=", "le"),
            (Lt, "<", "lt"),
        ):
            if isinstance(bound, kind):
                words.append(f"{sign} {getattr(bound, value)}")
    return ", ".join(words)
