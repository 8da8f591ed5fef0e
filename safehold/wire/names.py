"""Which metric names are taken. The client asks here too, so that a bad name shows at step one."""

from __future__ import annotations

from functools import lru_cache

from safehold.wire.limits import MAX_NAME_CHARACTERS


@lru_cache(maxsize=65536)
def name_problem(name: str) -> str | None:
    """Return why a name is refused, or `None` where it is taken.

    A name is data: any characters but control characters and lone surrogates, kept as they are
    (never normalised), so two different names stay two.
    """
    if not name:
        return "name is empty"
    if len(name) > MAX_NAME_CHARACTERS:
        return f"name has {len(name)} characters, at most {MAX_NAME_CHARACTERS} are taken"
    for character in name:
        code = ord(character)
        if code < 0x20 or 0x7F <= code < 0xA0:
            return f"name holds the control character U+{code:04X}"
        if 0xD800 <= code < 0xE000:
            return f"name holds the lone surrogate U+{code:04X}"
    return None
