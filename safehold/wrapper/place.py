"""Where the files of an attempt lie, and its secrets among them.

A launcher on this machine prepares the folder; a pod begins with nothing but its environment. So what came
there as text is put into files for this user alone, and taken out of what the ranks inherit.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Mapping, MutableMapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NoReturn

from safehold.wrapper.options import Options

# Variable with a text -> file it becomes, variable that names the file.
_TEXTS = {
    "SAFEHOLD_TOKEN": ("token", "SAFEHOLD_TOKEN_FILE"),
    "SAFEHOLD_CONFIG_JSON": ("config.json", "SAFEHOLD_CONFIG"),
}


def has_secrets(environ: Mapping[str, str]) -> bool:
    """Whether the environment holds what belongs into files."""
    return any(environ.get(variable) for variable in _TEXTS)


def begin_anew(options: Options, arguments: Sequence[str], environ: Mapping[str, str]) -> NoReturn:
    """Replace this process by the same program without its secrets; its number stays.

    What a process began with can be read in /proc for all its life, by everything that runs as its user.

    Args:
        options: As settled.
        arguments: As given.
        environ: Without the secrets.
    """
    at = arguments.index("--") if "--" in arguments else len(arguments)
    # The folder may be another one than was asked for, and the files lie there.
    given = [*arguments[:at], "--dir", str(options.folder), *arguments[at:]]
    os.execve(sys.executable, [sys.executable, "-m", "safehold.wrapper", *given], dict(environ))


def settle(options: Options, environ: MutableMapping[str, str]) -> Options:
    """Make the folder, move token and config from the environment into it, and return where it is.

    Args:
        options: As the command line gave them.
        environ: Of this process; changed.
    """
    folder = _usable(options.folder)
    environ["SAFEHOLD_DIR"] = str(folder)
    for variable, (name, told_by) in _TEXTS.items():
        text = environ.pop(variable, "")
        if text:
            environ[told_by] = str(_write(folder / name, text))
    return replace(options, folder=folder)


def _usable(folder: Path) -> Path:
    """Return the folder, or a private temporary one where it cannot be made or written."""
    try:
        _make(folder)
    except OSError as error:
        found = Path(tempfile.mkdtemp(prefix=f"safehold-{folder.name}-"))
        _make(found)
        reason = error.strerror or error
        sys.stderr.write(
            f"safehold: {folder} cannot be used ({reason}); the attempt's files lie in {found}.\n"
        )
        sys.stderr.flush()
        return found
    return folder


def _make(folder: Path) -> None:
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    for name in ("logs", "ranks", "journal"):
        (folder / name).mkdir(exist_ok=True)
    with tempfile.TemporaryFile(dir=folder):
        pass


def _write(path: Path, text: str) -> Path:
    path.unlink(missing_ok=True)
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(text)
    return path
