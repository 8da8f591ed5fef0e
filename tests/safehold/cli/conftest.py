"""Run the command line in this process, and read what it prints."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from safehold.cli.main import run as run_command
from safehold.config import parse, to_toml
from tests.runs.corpus import documents_on


@dataclass(frozen=True)
class Ran:
    """One command: its exit code and what it printed."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> dict[str, Any]:
        """What `--json` printed: one object on one line."""
        assert self.out.count("\n") == 1, self.out
        document: dict[str, Any] = json.loads(self.out)
        return document


Command = Callable[..., Ran]


@pytest.fixture
def safehold(capfd: pytest.CaptureFixture[str]) -> Command:
    def call(*words: object) -> Ran:
        code = run_command([str(word) for word in words])
        out, err = capfd.readouterr()
        return Ran(code, out, err)

    return call


@pytest.fixture
def config_file(tmp_path: Path) -> Callable[..., Path]:
    """Write configs on a corpus that is really there."""
    document = documents_on(tmp_path)

    def write(**changes: Any) -> Path:
        path = tmp_path / "run.toml"
        path.write_text(to_toml(parse(document(**changes))))
        return path

    return write
