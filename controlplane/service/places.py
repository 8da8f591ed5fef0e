"""Where the state of one machine's service lies, and how its servers are reached."""

import hashlib
import os
import tempfile
from pathlib import Path
from urllib.parse import quote, urlsplit

# sun_path holds 108 bytes; "/.s.PGSQL.5432.lock" must fit behind the directory.
MAX_SOCKET_DIR_BYTES = 85
# They separate addresses, or parts of one, for PostgreSQL, libpq, Redis clients or Celery.
NEVER_IN_SOCKET_DIR = frozenset(",;%?#")


def socket_dir(home: Path) -> Path:
    """Return the private directory of the sockets: inside `home`, or a short one where it is deep or oddly named.

    PostgreSQL and libpq refuse long socket paths, and read commas as more than one, so such a home gets a directory named by its
    digest below the system's temporary directory; `private_dir` guards it against other users.
    """
    inside = home / "run"
    is_plain = NEVER_IN_SOCKET_DIR.isdisjoint(str(inside))
    if is_plain and len(os.fsencode(inside)) <= MAX_SOCKET_DIR_BYTES:
        return inside
    digest = hashlib.sha256(os.fsencode(home)).hexdigest()[:12]
    return Path(tempfile.gettempdir()) / f"safehold-{os.geteuid()}-{digest}"


def private_dir(path: Path) -> Path:
    """Make `path` a directory that only this user can enter.

    Raises:
        PermissionError: Somebody else owns it, or it is a link.
    """
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    if path.is_symlink():
        raise PermissionError(f"{path} is a link; name the folder that it leads to: SAFEHOLD_HOME.")
    if path.lstat().st_uid != os.geteuid():
        raise PermissionError(f"{path} belongs to another user; remove it or set SAFEHOLD_HOME.")
    path.chmod(0o700)
    return path


def database_url(home: Path, name: str = "safehold") -> str:
    """Return the URL of the embedded PostgreSQL of `home`."""
    return f"postgresql://safehold@/{name}?host={quote(str(socket_dir(home)), safe='')}"


def valkey_socket(home: Path) -> Path:
    """Return the socket of the embedded Valkey of `home`."""
    return socket_dir(home) / "valkey.sock"


def redis_url(home: Path, database: int = 0) -> str:
    """Return the URL of the embedded Valkey of `home`."""
    return f"unix://{valkey_socket(home)}?db={database}"


def broker_url(redis_url: str) -> str:
    """Return the Redis URL as Celery spells it: sockets have a scheme of their own there."""
    parts = urlsplit(redis_url)
    if parts.scheme != "unix":
        return redis_url
    database = dict(pair.split("=", 1) for pair in parts.query.split("&") if "=" in pair)
    return f"redis+socket://{parts.path}?virtual_host={database.get('db', '0')}"
