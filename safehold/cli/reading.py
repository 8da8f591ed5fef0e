"""Files that are sent to the service as they are meant, without being judged here."""

from pathlib import Path
from typing import Any

from safehold.cli.output import CannotRun
from safehold.config import ConfigInvalid, read_document
from safehold.config.reading import SUFFIXES, Format


def read_plain(path: Path) -> dict[str, Any]:
    """Return the values of a .toml, .yaml or .json file.

    Raises:
        CannotRun: It is not there, not of such a form, or not well-formed.
    """
    return _read(path)[0]


def read_written(path: Path) -> dict[str, Any]:
    """Return the text of such a file and its form, as the API takes a config: comments and order are kept with it.

    Raises:
        CannotRun: As above.
    """
    _values, text, form = _read(path)
    return {"text": text, "format": form}


def _read(path: Path) -> tuple[dict[str, Any], str, Format]:
    form = SUFFIXES.get(path.suffix.lower())
    if form is None:
        raise CannotRun(f"{path}: name it .toml, .yaml or .json.")
    try:
        content = path.read_bytes()
        return read_document(content, form)[0], content.decode("utf-8-sig"), form
    except OSError as error:
        raise CannotRun(f"{path} cannot be read: {error.strerror or error}.") from error
    except ConfigInvalid as invalid:
        raise CannotRun(f"{path}: {invalid}") from invalid
