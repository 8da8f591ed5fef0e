"""Where the service is and what opens it, as the environment or `.safehold/` names them."""

import json
import os
from pathlib import Path

DEFAULT_URL = "http://127.0.0.1:8000"


def home() -> Path:
    """Return the folder of the service on this machine."""
    return Path(os.environ.get("SAFEHOLD_HOME") or ".safehold").expanduser()


def url() -> str:
    """Return SAFEHOLD_URL, else the address of the `safehold up` of the home, else the usual one."""
    return os.environ.get("SAFEHOLD_URL") or _address(home()) or DEFAULT_URL


def token() -> str:
    """Return SAFEHOLD_TOKEN, else the content of SAFEHOLD_TOKEN_FILE or of the home's own; may be empty."""
    return os.environ.get("SAFEHOLD_TOKEN") or _content(token_path())


def token_path() -> Path:
    """Return the file that a token is read from where the environment holds none."""
    return Path(os.environ.get("SAFEHOLD_TOKEN_FILE") or home() / "token")


def _address(home: Path) -> str:
    """Return where the `safehold up` that holds the lock of this home serves; empty where none does."""
    try:
        holder = json.loads(_content(home / "up.lock") or "{}")
    except ValueError:
        return ""
    return str(holder.get("url") or "") if isinstance(holder, dict) else ""


def _content(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError):  # what is no text is no token
        return ""
