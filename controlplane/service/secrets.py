"""Files that only their owner may read: the secret key, the passwords, the token."""

import contextlib
import os
import secrets
from pathlib import Path


def write_private(path: Path, text: str) -> None:
    """Write a file with mode 0600, whole or not at all."""
    fresh = path.with_name(path.name + ".new")
    fresh.unlink(missing_ok=True)
    file = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(file, "w", encoding="utf-8") as output:
        output.write(text)
        output.flush()
        os.fsync(output.fileno())
    fresh.rename(path)


def read(path: Path) -> str:
    """Return the stripped content, or nothing when there is no such file."""
    with contextlib.suppress(FileNotFoundError):
        return path.read_text(encoding="utf-8").strip()
    return ""


def ensure_secret_key(home: Path) -> None:
    """Make `secret_key` once; sessions and tokens of attempts rest on it, so it is never changed."""
    path = home / "secret_key"
    if not read(path):
        write_private(path, secrets.token_urlsafe(48) + "\n")
