"""One document, one form, one hash.

The stored document has its defaults filled in when it was read, never again, so a later default drifts nothing.
A whole float and the equal integer are written alike (as in RFC 8785), since a JSON store may return either.
"""

import json
import math
from collections.abc import Mapping
from typing import Any

from blake3 import blake3

from safehold.config.schema import RunConfig
from safehold.config.sections import Network


def canonical_document(config: RunConfig) -> dict[str, Any]:
    """Return the config as plain JSON values, keys sorted, defaults filled in."""
    document: dict[str, Any] = _sorted(config.model_dump(mode="json"))
    return document


def canonical_json(document: RunConfig | Mapping[str, Any]) -> str:
    """Return the text that is hashed.

    Raises:
        ValueError: A number is not finite.
    """
    plain = canonical_document(document) if isinstance(document, RunConfig) else document
    return json.dumps(
        _normal(plain), sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
    )


def config_hash(document: RunConfig | Mapping[str, Any]) -> str:
    """Return the name of a config, `blake3:` and 64 hex digits, of the document as it is."""
    return _digest(canonical_json(document))


def family_hash(document: RunConfig | Mapping[str, Any]) -> str:
    """Return the name of the model family: the shape of the network, whatever it is trained on.

    Fields at their defaults are left out, so that a field that a later version adds splits no family.
    """
    plain = canonical_document(document) if isinstance(document, RunConfig) else document
    defaults = {name: info.default for name, info in Network.model_fields.items()}
    shape = {name: value for name, value in plain["network"].items() if value != defaults.get(name)}
    return _digest(canonical_json(shape))


def _digest(text: str) -> str:
    return f"blake3:{blake3(text.encode()).hexdigest()}"


def _sorted(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _sorted(value[key]) for key in sorted(value)}
    return value


def _normal(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _normal(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_normal(item) for item in value]
    if isinstance(value, float) and math.isfinite(value) and value.is_integer():
        return int(value)
    return value
