"""The page of the command line names every command, and no other."""

import re
from pathlib import Path
from typing import Any

from safehold.cli.application import command

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


def test_every_command_but_the_service_itself_speaks_json() -> None:
    def leaves(group: Any) -> list[Any]:
        return [
            leaf
            for one in group.commands.values()
            for leaf in (leaves(one) if hasattr(one, "commands") else [one])
        ]

    silent = {
        one.name
        for one in leaves(command())
        if "--json" not in {o for p in one.params for o in p.opts}
    }
    assert silent == {"up", "demo"}
