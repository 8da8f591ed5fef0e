"""The bases of what comes in and what goes out."""

from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin

from ninja import Schema
from pydantic import ConfigDict, Field, ValidationInfo, field_validator

from controlplane.common.cursors import LARGEST_ID

# What a key of the database can be; beyond that nothing is found, and PostgreSQL would not even be asked.
Id = Annotated[int, Field(ge=1, le=LARGEST_ID)]
# Any whole number that a column holds.
Whole = Annotated[int, Field(ge=-LARGEST_ID, le=LARGEST_ID)]


class Input(Schema):
    """A body: a field that is not known is a mistake, never passed over; true and false are no numbers."""

    model_config = ConfigDict(extra="forbid")

    @field_validator("*", mode="before")
    @classmethod
    def _flag_only_where_one_is_meant(cls, value: Any, info: ValidationInfo) -> Any:
        field = cls.model_fields.get(info.field_name or "")
        if isinstance(value, bool) and field is not None and not _takes_flag(field.annotation):
            raise ValueError("true and false mean nothing here")
        return value


class Output(Schema):
    """An answer."""


def _takes_flag(annotation: Any) -> bool:
    if annotation in (bool, Any):
        return True
    # The arguments of a union are choices, those of `dict[str, Any]` are not.
    return get_origin(annotation) in (Union, UnionType) and any(
        map(_takes_flag, get_args(annotation))
    )
