"""The fields of a config as a flat list: what a form, the reference page and a diff need to know of each."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, get_args, get_origin

from annotated_types import Ge, Gt, Le, Lt
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from safehold.config.schema import RunConfig

Form = Literal[
    "text", "prose", "choice", "integer", "number", "flag", "numbers", "words", "shares", "pairs", "rows", "nested"
]  # fmt: skip


@dataclass(frozen=True)
class FieldSpec:
    """One field.

    Attributes:
        path: Dotted name, `optimizer.lr`.
        section: Name of its section, empty at the top.
        title: Label of a form.
        description: Help text.
        unit: Unit of the value, or empty.
        form: What is typed: text, prose (several lines), choice, integer, number, flag, numbers, words (a command), shares (name = share),
            pairs (name = text), rows (a list of sections), nested (anything deeper: typed as TOML only).
        choices: Of a choice.
        required: It has no default.
        default: Value when it is not given.
        example: What a form starts with: the default, or a typical value of a required field.
        bounds: In words, `> 0, <= 10`.
        only_with: Path and value of the field that decides whether its section is there; None: always.
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
    only_with: tuple[str, str] | None = None


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


def section_of(info: FieldInfo) -> type[BaseModel] | None:
    """Return the model of a field that is a section, an optional one too; None for a plain field."""
    parts = (
        get_args(info.annotation)
        if get_origin(info.annotation) is UnionType
        else (info.annotation,)
    )
    found = [part for part in parts if part is not NoneType]
    if len(found) == 1 and isinstance(found[0], type) and issubclass(found[0], BaseModel):
        return found[0]
    return None


def _walk(model: type[BaseModel], section: str) -> Iterator[FieldSpec]:
    for name, info in model.model_fields.items():
        if inner := section_of(info):
            only_with = _extra(info).get("only_with")
            for spec in _walk(inner, name):
                yield replace(spec, only_with=tuple(only_with) if only_with else None)
        else:
            yield _spec(name, section, info)


def _spec(name: str, section: str, info: FieldInfo) -> FieldSpec:
    extra = _extra(info)
    required = info.is_required()
    default = None if required else info.get_default(call_default_factory=True)
    return FieldSpec(
        path=f"{section}.{name}" if section else name,
        section=section,
        title=info.title or name,
        description=info.description or "",
        unit=str(extra.get("unit", "")),
        form=extra.get("form") or _form(info.annotation),
        choices=tuple(str(choice) for choice in get_args(info.annotation))
        if _is_choice(info)
        else (),
        required=required,
        default=default,
        example=extra.get("example", default),
        bounds=_bounds(info),
    )


def _extra(info: FieldInfo) -> dict[str, Any]:
    return dict(info.json_schema_extra) if isinstance(info.json_schema_extra, dict) else {}


def _form(annotation: Any) -> Form:
    plain: dict[Any, Form] = {str: "text", int: "integer", float: "number", bool: "flag"}
    if annotation in plain:
        return plain[annotation]
    origin = get_origin(annotation)
    if origin is Literal:
        return "choice"
    if origin is dict:
        return _table_form(get_args(annotation)[1])
    if any(isinstance(part, type) and issubclass(part, BaseModel) for part in get_args(annotation)):
        return "rows"
    return "words" if Ellipsis in get_args(annotation) else "numbers"


def _table_form(value: Any) -> Form:
    if value is Any:
        return "nested"
    plain = get_args(value)[0] if get_origin(value) is Annotated else value
    return "pairs" if plain is str else "shares"


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
