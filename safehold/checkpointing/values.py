"""Values that JSON would change, kept as they are: `{30: 1}` would come back as `{"30": 1}`.

What a scheduler or sampler hands out may hold such maps (the milestones of torch's MultiStepLR), infinities (its
ReduceLROnPlateau) and tuples (`random.getstate()`). Each stands in the document as a map of one key that begins
with `~`; all else stands as it is.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from typing import Any

_TAG = "~"


def to_json(value: Any) -> Any:
    """Return a value as JSON can hold it, in containers of its own; what JSON cannot hold at all stays."""
    if isinstance(value, dict):
        return _map_to_json(value)
    if isinstance(value, tuple):
        return {"~tuple": [to_json(item) for item in value]}
    if isinstance(value, list):
        return [to_json(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return {"~float": str(float(value))}
    return value


def from_json(value: Any) -> Any:
    """Return what `to_json` was given.

    Raises:
        ValueError: a tag is not known, or holds what it cannot.
    """
    if isinstance(value, list):
        return [from_json(item) for item in value]
    if not isinstance(value, dict):
        return value
    if len(value) == 1 and (tag := next(iter(value))).startswith(_TAG):
        return _untagged(tag, value[tag])
    return {key: from_json(item) for key, item in value.items()}


def _map_to_json(value: dict[Any, Any]) -> dict[str, Any]:
    pairs = [[to_json(key), to_json(item)] for key, item in value.items()]
    if isinstance(value, Counter):
        return {"~counter": pairs}
    looks_tagged = len(value) == 1 and str(next(iter(value))).startswith(_TAG)
    if looks_tagged or not all(isinstance(key, str) for key in value):
        return {"~map": pairs}
    return dict(pairs)


def _untagged(tag: str, content: Any) -> Any:
    if tag not in _KINDS:
        raise ValueError(f"{tag!r} is no kind of value that Safehold writes.")
    try:
        return _KINDS[tag](content if tag == "~float" else from_json(content))
    except TypeError as error:
        raise ValueError(f"{tag!r} cannot hold {content!r:.80}.") from error


_KINDS: dict[str, Callable[[Any], Any]] = {
    "~counter": lambda pairs: Counter(dict(pairs)),
    "~float": float,
    "~map": dict,
    "~tuple": tuple,
}
