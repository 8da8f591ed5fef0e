"""Typed readers of the environment: one place that says what a bad setting is and what to do."""

import os
from pathlib import Path
from urllib.parse import urlsplit


class BadSetting(ValueError):
    """An environment variable holds something that cannot be used; the message names it."""


def text(name: str, default: str = "") -> str:
    """Return `name`, or the content of the file that `name`_FILE names, or the default."""
    if file_name := os.environ.get(f"{name}_FILE"):
        try:
            return Path(file_name).read_text(encoding="utf-8").strip()
        except OSError as error:
            raise BadSetting(f"{name}_FILE={file_name!r} cannot be read: {error}.") from error
    return os.environ.get(name, default)


def choice(name: str, default: str, known: tuple[str, ...]) -> str:
    """Return one of several words, in capitals."""
    value = os.environ.get(name, "").strip().upper() or default
    if value not in known:
        raise BadSetting(f"{name}={value!r} is none of {', '.join(known)}.")
    return value


def address(name: str, default: str = "", schemes: tuple[str, ...] = ("http", "https")) -> str:
    """Return a URL without the slash at its end; empty where the default is."""
    value = text(name, default).strip()
    try:
        parts = urlsplit(value)
        is_one = parts.scheme in schemes and bool(parts.hostname or parts.scheme == "unix")
        is_one = is_one and parts.port != 0  # reading it refuses what is no port
    except ValueError:
        is_one = False
    if value and not is_one:
        # Not the value: it may hold a password.
        told = " or ".join(f"{scheme}://" for scheme in schemes)
        raise BadSetting(f"{name} is no address; it begins with {told} and a host.")
    return value.rstrip("/")


def flag(name: str, *, default: bool) -> bool:
    """Return a yes/no setting; 1, true, yes, on and 0, false, no, off are read."""
    value = os.environ.get(name, "").strip().lower()
    if not value:
        return default
    if value in {"1", "true", "yes", "on"}:
        return True
    if value in {"0", "false", "no", "off"}:
        return False
    raise BadSetting(f"{name}={value!r} is neither yes nor no; use 1 or 0.")


def integer(name: str, default: int, *, least: int = 0, most: int | None = None) -> int:
    """Return a whole number that is at least `least`, and at most `most` where that is given."""
    value = os.environ.get(name, "").strip()
    if not value:
        return default
    try:
        number = int(value)
    except ValueError:
        raise BadSetting(f"{name}={value!r} is not a whole number.") from None
    if number < least:
        raise BadSetting(f"{name}={number} is below {least}.")
    if most is not None and number > most:
        raise BadSetting(f"{name}={number} is above {most}.")
    return number


def path(name: str, default: Path) -> Path:
    """Return an absolute path; `~` is expanded."""
    return Path(os.environ.get(name) or default).expanduser().absolute()
