"""Where an attempt may save, and what a manifest from outside may hold before it is stored.

Pure but for resolving links of the path that was sent.
"""

import json
import re
from pathlib import Path
from typing import Any

from controlplane.common.errors import Invalid

_LONGEST_PATH = 1024  # bounds the unique index; far above what the writer makes
# An escaped NUL; an even number of backslashes before it would be text.
_NUL = re.compile(r"(?<!\\)(?:\\\\)*\\u0000")


def inside_attempt(path: object, *, root: Path, run_id: int, number: int) -> str:
    """Return the path, resolved, if it lies below the attempt's own directory.

    The root may itself be a link, as operators set it; nothing below it may lead elsewhere.

    Raises:
        Invalid: The path is no plain absolute path, or leads out of the directory.
    """
    own = root.resolve() / f"run-{run_id}" / f"a{number}"
    plain = _plain(path)
    try:
        real = Path(plain).resolve()
    except (OSError, RuntimeError) as error:
        raise _refused(path, f"it cannot be resolved ({error})", own) from error
    if real == own or not real.is_relative_to(own):
        raise _refused(path, f"it leads to {real}", own)
    return str(real)


def storable(data: dict[str, Any], name: str = "manifest") -> dict[str, Any]:
    """Return the document if the database can hold it as JSON.

    Raises:
        Invalid: It holds a NUL, a lone surrogate, or a number that JSON has no form for.
    """
    try:
        text = json.dumps(data, ensure_ascii=False, allow_nan=False)
        text.encode()
    except (ValueError, TypeError, RecursionError) as error:
        raise Invalid(
            f"`{name}` cannot be stored as JSON: {error}.", fields={name: [str(error)]}
        ) from error
    if _NUL.search(text):
        raise Invalid(f"`{name}` holds a NUL character.", fields={name: ["holds a NUL character"]})
    return data


def _plain(path: object) -> str:
    if not isinstance(path, str) or not path:
        raise Invalid("`path` must be text.", fields={"path": ["must be text"]})
    reason = ""
    if len(path) > _LONGEST_PATH:
        reason = f"is longer than {_LONGEST_PATH} characters"
    elif not path.isprintable():
        reason = "holds a control character"
    elif not path.startswith("/"):
        reason = "is not absolute"
    elif ".." in path.split("/"):
        reason = "climbs with `..`"
    if reason:
        raise Invalid(f"`path` {path!r} {reason}.", fields={"path": [reason]})
    return path


def _refused(path: object, why: str, own: Path) -> Invalid:
    return Invalid(
        f"`path` {path!r} is refused: {why}, and this attempt saves only below {own}.",
        code="path-outside-attempt",
        fields={"path": [why]},
    )
