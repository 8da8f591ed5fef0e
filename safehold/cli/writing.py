"""Files that a command writes: whole, or not at all."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from safehold.cli.output import CannotRun, lines


def write_whole(output: Path, parts: Iterable[bytes]) -> int:
    """Write a file and return its bytes; what is there stays until all parts have come.

    What is no file of its own, `/dev/stdout` or another link, a pipe, is written into and never replaced.

    Raises:
        CannotRun: The file cannot be written.
    """
    fresh = output.with_name(f".{output.name}.part")
    try:
        is_own = not output.is_symlink() and (output.is_file() or not output.exists())
        with (fresh if is_own else output).open("wb") as file:
            size = sum(file.write(part) for part in parts)
        if is_own:
            fresh.replace(output)
    except (OSError, ValueError) as error:
        told = error.strerror if isinstance(error, OSError) else error
        raise CannotRun(f"{output} cannot be written: {told or error}.") from error
    finally:
        _forget(fresh)
    return size


def print_written(answer: Mapping[str, Any]) -> None:
    """Print the text that was asked for, or where it was written."""
    if "path" in answer:
        lines(f"{answer['path']}: {answer['size_bytes']:,} bytes")
    else:
        lines(answer["text"].rstrip("\n"))


def _forget(path: Path) -> None:
    try:
        path.unlink(missing_ok=True)
    except (OSError, ValueError):  # a folder that is none, a name too long: nothing was written
        return
