"""Which fields the API knows, at any depth, read from the official client's own models."""

import typing
from collections.abc import Iterator
from typing import Any

from kubernetes import client
from pydantic import BaseModel, ValidationError

Json = dict[str, Any]
_MODELS: dict[str, type[BaseModel]] = {
    "Job": client.V1Job, "Secret": client.V1Secret, "Service": client.V1Service, "Pod": client.V1Pod,
}  # fmt: skip


def unknown_fields(kind: str, item: Json) -> list[str]:
    """Return the paths of the fields that the kind does not have."""
    model = _MODELS.get(kind)
    return [] if model is None else list(_unknown(model, item, ""))


def wrong_type(kind: str, item: Json) -> str:
    """Return what is said of a value of another type than the field's, or an empty text."""
    model: Any = _MODELS.get(kind)
    try:
        if model is not None:
            model.from_dict(item)
    except ValidationError as error:
        first = error.errors()[0]
        return f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
    return ""


def without(item: Json, path: str) -> None:
    """Drop one field, as a lenient server does."""
    *steps, last = path.replace("[", ".[").split(".")
    found: Any = item
    for step in steps:
        found = found[int(step[1:-1])] if step.startswith("[") else found[step]
    del found[last]


def _unknown(model: type[BaseModel], item: Json, path: str) -> Iterator[str]:
    fields = {
        field.serialization_alias or name: field.annotation
        for name, field in model.model_fields.items()
    }
    for key, value in item.items():
        here = f"{path}.{key}" if path else key
        if key not in fields:
            yield here
        elif inner := _model_of(fields[key]):
            yield from _inside(inner, value, here)


def _inside(model: type[BaseModel], value: Any, path: str) -> Iterator[str]:
    if isinstance(value, dict):
        yield from _unknown(model, value, path)
    elif isinstance(value, list):
        for number, entry in enumerate(value):
            if isinstance(entry, dict):
                yield from _unknown(model, entry, f"{path}[{number}]")


def _model_of(annotation: Any) -> type[BaseModel] | None:
    """Return the model in `Optional[List[Model]]`; maps of free keys have none."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    if typing.get_origin(annotation) is dict:
        return None
    inner = (_model_of(one) for one in typing.get_args(annotation))
    return next((one for one in inner if one is not None), None)
