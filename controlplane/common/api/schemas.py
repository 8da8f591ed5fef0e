"""The bases of what comes in and what goes out."""

from ninja import Schema
from pydantic import ConfigDict


class Input(Schema):
    """A body: a field that is not known is a mistake, never passed over."""

    model_config = ConfigDict(extra="forbid")


class Output(Schema):
    """An answer."""
