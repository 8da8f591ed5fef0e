"""Files that are sent to the service as they are meant, without being judged here."""

from pathlib import Path
from typing import Any

from safehold.cli.output import CannotRun
from safehold.config import ConfigInvalid, read_document
from safehold.config.reading import SUFFIXES


def read_plain(path: Path) -> dict[str, Any]:
    """Return the values of a .toml, .yaml or .json file.

    Raises:
        CannotRun: It is not there, not of such a form, or not well-formed.
    """
    form = SUFFIXES.get(path.suffix.lower())
    if form is None:
        raise CannotRun(f"{path}: name it .toml, .yaml or .json.")
    try:
        return read_document(path.read_bytes(), form)[0]
    except OSError as error:
        raise CannotRun(f"{path} cannot be read: {error.strerror or error}.") from error
    except ConfigInvalid as invalid:
        raise CannotRun(f"{path}: {invalid}") from invalid
