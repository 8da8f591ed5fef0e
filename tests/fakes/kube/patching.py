"""Patches: a merge patch, and the part of a strategic merge that matters here."""

from typing import Any


def merge_patch(held: Any, patch: Any) -> Any:
    """Return `held` changed by an RFC 7386 merge patch; lists are replaced."""
    if not isinstance(patch, dict):
        return patch
    merged = dict(held) if isinstance(held, dict) else {}
    for key, value in patch.items():
        if value is None:
            merged.pop(key, None)
        else:
            merged[key] = merge_patch(merged.get(key), value)
    return merged
