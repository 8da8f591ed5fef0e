"""Entry point of `safehold`: 0 good, 1 findings that block, 2 could not run, with one line on stderr."""

import sys
from collections.abc import Sequence

from safehold.api_client import ApiError

COULD_NOT_RUN = 2


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and leave the process with its exit code."""
    sys.exit(run(sys.argv[1:] if arguments is None else arguments))


def run(arguments: Sequence[str]) -> int:
    """Run one command and return its exit code."""
    try:
        from safehold.cli.application import command
    except ModuleNotFoundError as error:
        return _refuse(f"{error.name} is missing: pip install 'safehold[cli]'.")
    try:
        return int(command()(list(arguments), prog_name="safehold", standalone_mode=False) or 0)
    except ApiError as error:
        return _refuse(str(error))
    except BrokenPipeError:
        return 0
    except Exception as error:
        if hasattr(error, "format_message"):  # a wrong option or argument, as the parser words it
            return _refuse(f"{error.format_message().rstrip('.')}. See `safehold --help`.")
        if type(error).__name__ == "Abort":
            return _refuse("stopped.")
        raise


def _refuse(message: str) -> int:
    print(f"safehold: {' '.join(message.split())}", file=sys.stderr)
    return COULD_NOT_RUN
