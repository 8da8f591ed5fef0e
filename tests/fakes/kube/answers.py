"""Refusals in the words of a real API server."""

from typing import Any

from tests.fakes.kube.resources import Resource

Json = dict[str, Any]


class Refused(Exception):
    """An answer that is not a success; `body` is a Status or, as at the real one, plain text."""

    def __init__(self, code: int, body: Json | str, headers: dict[str, str] | None = None) -> None:
        super().__init__(code, body)
        self.code = code
        self.body = body
        self.headers = headers or {}


def status(
    code: int, reason: str, message: str, *, resource: Resource | None = None, name: str = "",
    causes: list[Json] | None = None, kind: str = "",
) -> Refused:  # fmt: skip
    details: Json = {}
    if resource:
        details = {"kind": kind or resource.plural, "name": name}
        if resource.group:
            details["group"] = resource.group
    if causes:
        details["causes"] = causes
    body: Json = {
        "apiVersion": "v1",
        "code": code,
        "kind": "Status",
        "message": message,
        "metadata": {},
    }
    body |= {"reason": reason, "status": "Failure"}
    if details:
        body["details"] = details
    return Refused(code, body)


def not_found(resource: Resource, name: str) -> Refused:
    message = f'{resource.full_name} "{name}" not found'
    return status(404, "NotFound", message, resource=resource, name=name)


def already_exists(resource: Resource, name: str, *, is_being_deleted: bool) -> Refused:
    message = f'{resource.full_name} "{name}" already exists'
    if is_being_deleted:
        message = f'object is being deleted: {resource.full_name} "{name}" already exists'
    return status(409, "AlreadyExists", message, resource=resource, name=name)


def conflict(resource: Resource, name: str, why: str) -> Refused:
    message = f'Operation cannot be fulfilled on {resource.full_name} "{name}": {why}'
    return status(409, "Conflict", message, resource=resource, name=name)


def invalid(resource: Resource, name: str, causes: list[tuple[str, str]]) -> Refused:
    """422 with one cause a field: `causes` are (field, message)."""
    told = [{"field": f, "message": m, "reason": "FieldValueInvalid"} for f, m in causes]
    listed = ", ".join(f"{field}: {message}" for field, message in causes)
    message = f'{resource.kind}.{resource.group} "{name}" is invalid: '.replace('. "', ' "')
    message += listed if len(causes) == 1 else f"[{listed}]"
    return status(
        422, "Invalid", message, resource=resource, name=name, causes=told, kind=resource.kind
    )


def forbidden(resource: Resource, name: str, why: str) -> Refused:
    message = f'{resource.full_name} "{name}" is forbidden: {why}'
    return status(403, "Forbidden", message, resource=resource, name=name)


def expired(asked: int, oldest: int) -> Refused:
    return status(410, "Expired", f"too old resource version: {asked} ({oldest})")


def too_many_requests() -> Refused:
    """As priority and fairness answers: plain text, not a Status."""
    return Refused(429, "Too many requests, please try again later.\n", {"Retry-After": "1"})
