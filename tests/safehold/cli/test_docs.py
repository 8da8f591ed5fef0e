"""The page of the command line names every command, and no other."""

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from safehold.cli.application import command
from tests.safehold.cli.conftest import Command
from tests.safehold.cli.tree import Leaf, leaves

ConfigFile = Callable[..., Path]
PAGE = Path(__file__).parents[3] / "docs/reference/cli.md"


def names_of(group: Any, before: str = "safehold") -> set[str]:
    found: set[str] = set()
    for name, one in group.commands.items():
        path = f"{before} {name}"
        found |= names_of(one, path) if hasattr(one, "commands") else {path}
    return found


def test_the_page_names_every_command() -> None:
    rows = re.findall(r"^\| `(safehold [a-z ]+?)(?: [A-Z\[-].*?)?`", PAGE.read_text(), re.MULTILINE)
    assert set(rows) == names_of(command())


each = pytest.mark.parametrize("leaf", list(leaves()), ids=lambda leaf: leaf.name)


@each
def test_every_command_speaks_json(leaf: Leaf) -> None:
    assert "--json" in {name for one in leaf.click.params for name in one.opts}


@each
def test_every_command_says_what_it_does(leaf: Leaf) -> None:
    assert (leaf.click.help or "").strip().endswith(".")
    for one in leaf.click.params:
        told = one.help or ""
        assert told.endswith((".", "…", ")")), f"{leaf.name}: {one.name} says {told!r}"


@each
def test_the_help_of_a_command_fits_a_terminal(leaf: Leaf, safehold: Command) -> None:
    ran = safehold(*leaf.words, "--help")
    assert (ran.code, ran.err) == (0, "")
    assert max(map(len, ran.out.splitlines())) <= 80


def test_a_reader_that_has_seen_enough_is_no_fault() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    command = [sys.executable, "-m", "safehold.cli", "run", "list", "--help"]
    ran = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, text=True, check=False)
    os.close(writer)
    assert (ran.returncode, ran.stderr) == (0, "")


def test_no_output_at_all_is_no_fault(config_file: ConfigFile) -> None:
    plan = [sys.executable, "-m", "safehold.cli", "plan", str(config_file()), "--json"]
    command = ["sh", "-c", 'exec "$@" >&-', "sh", *plan]
    ran = subprocess.run(command, stderr=subprocess.PIPE, text=True, check=False)
    assert (ran.returncode, ran.stderr) == (0, "")
