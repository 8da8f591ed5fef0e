"""The OpenAPI document: what the framework knows of the operations, and what holds for all of them."""

from typing import Any

from ninja import NinjaAPI
from ninja.openapi.schema import OpenAPISchema

_METHODS = ("get", "post", "put", "patch", "delete")
_FIELD_FAULT = {
    "type": "object",
    "required": ["field", "message"],
    "properties": {"field": {"type": "string"}, "message": {"type": "string"}},
}
PROBLEM: dict[str, Any] = {
    "title": "Problem",
    "description": "RFC 9457: what went wrong, on which object, and what to do.",
    "type": "object",
    "required": ["type", "title", "status", "detail"],
    "properties": {
        "type": {"type": "string", "description": "urn:safehold:problem:<code>"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string"},
        "hint": {"type": "string"},
        "errors": {"type": "array", "items": _FIELD_FAULT},
        "findings": {"type": "array", "items": {"type": "object"}},
        "changes": {
            "type": "array",
            "items": {"type": "object", "required": ["field"]},
            "description": "Of `changed-meanwhile`: what is different now.",
        },
        "version": {"type": "string", "description": "Of `changed-meanwhile`: the one of now."},
    },
}
_REFUSAL = {
    "description": "A problem document.",
    "content": {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}},
}
_KEY = {
    "in": "header",
    "name": "Idempotency-Key",
    "required": False,
    "description": "The same request with the same key makes nothing new and gets the first answer.",
    "schema": {"type": "string", "maxLength": 200},
}
_SEEN = {
    "in": "header",
    "name": "If-Match",
    "required": False,
    "description": "`version` of the object as you read it, in quotes (its ETag): refused with 412 where somebody changed it since.",
    "schema": {"type": "string"},
}


class DescribedApi(NinjaAPI):
    """An API whose document also tells of problems, repeated creates and who may call."""

    def get_openapi_schema(self, **how: Any) -> OpenAPISchema:
        """Return the document."""
        return described(super().get_openapi_schema(**how))


def described(document: OpenAPISchema) -> OpenAPISchema:
    """Add to every operation its refusals, and to every create its key."""
    document.setdefault("components", {}).setdefault("schemas", {})["Problem"] = PROBLEM
    for path in document["paths"].values():
        for method in _METHODS:
            if method in path:
                _describe(path[method], method)
    return document


def _describe(operation: dict[str, Any], method: str) -> None:
    operation["responses"].setdefault("default", _REFUSAL)
    if method == "post" and any(str(status) == "201" for status in operation["responses"]):
        operation.setdefault("parameters", []).append(_KEY)
    if method == "patch":
        operation.setdefault("parameters", []).append(_SEEN)
        operation["responses"].setdefault("412", _REFUSAL | {"description": "Changed meanwhile."})
