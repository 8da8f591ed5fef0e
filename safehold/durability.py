"""What a file system must be asked for so that a loss of power takes nothing back."""

from __future__ import annotations

import errno
import os
from pathlib import Path


def sync_folder(folder: Path) -> None:
    """Have a folder's entries on stable storage: syncing a file does not keep its name.

    A file system that knows no such thing for folders says EINVAL (fsync(2)), and there is nothing to wait for.

    Raises:
        OSError: the disk refused.
    """
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno != errno.EINVAL:
            raise
    finally:
        os.close(descriptor)
