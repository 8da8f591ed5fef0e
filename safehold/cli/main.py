"""Entry point of `safehold`: 0 good, 1 findings that block, 2 could not run, with one line on stderr."""

import io
import os
import sys
import traceback
from collections.abc import Sequence
from typing import Any

from safehold.api_client import ApiError

COULD_NOT_RUN = 2
INTERRUPTED = 130


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and leave the process with its exit code."""
    try:
        sys.exit(run(sys.argv[1:] if arguments is None else arguments))
    except KeyboardInterrupt:  # before the parser, which sees to it from then on
        sys.exit(INTERRUPTED)


def run(arguments: Sequence[str]) -> int:
    """Run one command and return its exit code."""
    try:
        from safehold.cli.application import command
    except ModuleNotFoundError as error:
        return _refuse(f"{error.name} is missing: pip install 'safehold[cli]'.")
    _take_any_character()
    try:
        return int(command()(list(arguments), prog_name="safehold", standalone_mode=False) or 0)
    except ApiError as error:
        return _refuse(str(error))
    except BrokenPipeError:
        return _nobody_reads()
    except SystemExit as end:
        if end.code != 1:  # completion ends so
            raise
        return _nobody_reads()  # the parser has taken the broken pipe
    except OSError as error:
        named = f"{error.filename} cannot be used: " if error.filename else ""
        return _refuse(f"{named}{str(error.strerror or error).rstrip('.')}.")
    except UnicodeEncodeError:
        return _refuse("an argument is no text in the character set of this terminal.")
    except Exception as error:  # noqa: BLE001 the edge of the process: a code of its own would read as findings
        if hasattr(error, "format_message"):  # a wrong option or argument, as the parser words it
            return _refuse(f"{error.format_message().rstrip('.')}. See `{_where(error)} --help`.")
        if type(error).__name__ == "Abort":
            return _refuse("stopped.")
        return _broke(error)


def _nobody_reads() -> int:
    """End well where the reader has seen enough; what is still buffered has no reader either."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    return 0


def _where(error: Any) -> str:
    """Return the command whose help says more."""
    return str(getattr(getattr(error, "ctx", None), "command_path", "") or "safehold")


def _take_any_character() -> None:
    """Have output show what the terminal's character set lacks by its number, and none at all break nothing."""
    # Whoever called may have closed it.
    sys.stdout = sys.stdout or open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _broke(error: Exception) -> int:
    if os.environ.get("SAFEHOLD_TRACEBACK"):
        traceback.print_exception(error)
    return _refuse(
        f"broke, which is a fault of its own: {type(error).__name__}: {error}."
        " SAFEHOLD_TRACEBACK=1 shows where."
    )


def _refuse(message: str) -> int:
    print(f"safehold: {' '.join(message.split())}", file=sys.stderr)
    return COULD_NOT_RUN
