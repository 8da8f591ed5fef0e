"""Paths that come from a manifest stay inside the checkpoint's own folder.

A name is checked as text, and opened part by part without following links, so that a link which
appears after the check (on shared storage anyone may plant one) is refused by the kernel.
"""

from __future__ import annotations

import errno
import os
import stat
from pathlib import PurePosixPath

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# O_NONBLOCK: opening a named pipe must not hang; it changes nothing for a file.
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
# What such a path names is no folder and never will be; anything else may pass.
_NO_FOLDER = (errno.ENOTDIR, errno.ELOOP, errno.ENAMETOOLONG)
_LONGEST_PATH = 1024  # a guess, far above what any format of ours writes


class PathError(ValueError):
    """A path that may not be used; the message names it."""


def check_relative(path: str) -> str:
    """Return the path if it is plain and stays below its folder.

    Raises:
        PathError: it is empty, absolute, too long, climbs, or holds a character that hides what it is.
    """
    reason = _fault(path)
    if reason:
        raise PathError(f"Path {path!r} {reason}; a checkpoint names only files in its own folder.")
    return path


def open_inside(folder: str | os.PathLike[str], path: str) -> int:
    """Open a regular file below the folder, following no link on the way.

    Returns:
        A file descriptor for reading; the caller closes it.

    Raises:
        PathError: the path is unsafe, a link, or not a regular file.
        FileNotFoundError: there is no such file.
    """
    parts = PurePosixPath(check_relative(path)).parts
    here = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for part in parts[:-1]:
            here = _step_into(here, part, path)
        return _open_file(here, parts[-1], path)
    finally:
        os.close(here)


def _fault(path: str) -> str:
    if not path or path == ".":
        return "is empty"
    if len(path) > _LONGEST_PATH:
        return f"is longer than {_LONGEST_PATH} characters"
    if not path.isprintable():
        return "holds a control character"
    if "\\" in path:
        return "holds a backslash"
    if path.startswith("/"):
        return "is absolute"
    if any(part in {"", ".", ".."} for part in path.split("/")):
        return "climbs or is not in plain form"
    return ""


def _step_into(here: int, part: str, path: str) -> int:
    try:
        below = os.open(part, _FOLDER, dir_fd=here)
    except OSError as error:
        if error.errno not in _NO_FOLDER:
            raise
        raise PathError(f"Path {path!r} goes through a link or a file at {part!r:.80}.") from error
    os.close(here)
    return below


def _open_file(here: int, name: str, path: str) -> int:
    try:
        descriptor = os.open(name, _FILE, dir_fd=here)
    except OSError as error:
        if isinstance(error, FileNotFoundError):
            raise
        raise PathError(
            f"Path {path!r} is a link or cannot be opened: {error.strerror}."
        ) from error
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise PathError(f"Path {path!r} is not a regular file.")
    return descriptor
