"""The way to the control plane, by what the environment says of it and nothing else.

A config that cannot be read must not keep the wrapper from sending why the ranks ended.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from safehold.transport import Transport


def transport_of(environ: Mapping[str, str]) -> Transport | None:
    """Return the transport of the attempt, or None where no server or token is named. Never raises."""
    with contextlib.suppress(Exception):
        from safehold.environment import read_line
        from safehold.transport import Transport

        url = environ.get("SAFEHOLD_URL", "").rstrip("/")
        token_file, url_file = (
            Path(environ[name]) if environ.get(name) else None
            for name in ("SAFEHOLD_TOKEN_FILE", "SAFEHOLD_URL_FILE")
        )
        token = environ.get("SAFEHOLD_TOKEN", "") or read_line(token_file)
        if url and token:
            return Transport(url, token, token_file, url_file)
    return None
