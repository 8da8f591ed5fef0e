"""The one expected failure: a sentence for the person, told the same way by pages, API and command line."""

from collections.abc import Mapping, Sequence
from typing import Any


class SafeholdError(Exception):
    """Something that a person or a client did or met, and can act on.

    Attributes:
        code: Stable slug, e.g. `run-not-found`.
        message: What happened, on which object.
        hint: What to do about it; may be empty.
        http_status: The status of the answer.
        fields: Field path -> messages, where single fields are at fault.
    """

    code = "error"
    http_status = 400

    def __init__(
        self,
        message: str,
        *,
        code: str | None = None,
        hint: str = "",
        http_status: int | None = None,
        fields: Mapping[str, Sequence[str]] | None = None,
        extra: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.code = code or self.code
        self.hint = hint
        self.http_status = http_status or self.http_status
        self.fields = {path: list(messages) for path, messages in (fields or {}).items()}
        self.extra = dict(extra or {})

    def problem(self) -> dict[str, Any]:
        """Return the RFC 9457 problem document."""
        document: dict[str, Any] = {
            "type": f"urn:safehold:problem:{self.code}",
            "title": self.code.replace("-", " ").capitalize(),
            "status": self.http_status,
            "detail": self.message,
        }
        if self.hint:
            document["hint"] = self.hint
        if self.fields:
            document["errors"] = [
                {"field": path or "document", "message": message}
                for path, messages in self.fields.items()
                for message in messages
            ]
        return document | self.extra


class NotFound(SafeholdError):
    """The object does not exist, or this person may not know that it does."""

    code = "not-found"
    http_status = 404


class Forbidden(SafeholdError):
    """The person may see the object but not do this."""

    code = "forbidden"
    http_status = 403


class OnlySent(SafeholdError):
    """The address takes what forms send and was visited, as after the reload of a form's answer."""

    code = "method-not-allowed"
    http_status = 405


class Conflict(SafeholdError):
    """The object is not in a state that allows this."""

    code = "conflict"
    http_status = 409


class Invalid(SafeholdError):
    """The input cannot be used; `fields` says where."""

    code = "invalid"
    http_status = 422
