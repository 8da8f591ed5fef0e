"""What the documents show is there: commands with their options, operations of the API, links and the headings they lead to."""

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from django.core.management import get_commands

from controlplane.api import api
from safehold.cli.application import command

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
SHOWN = re.compile(r"(?:^ *\$ |`)(?:[A-Z_]+=\S+ )*(?:\.venv/bin/)?safehold ([a-z][^`\n]*)", re.M)
OPTION = re.compile(r"(?<![\w-])--?[a-z][a-z-]*")
OPERATION = re.compile(r"`(GET|POST|PATCH|DELETE) (?:/api/v1)?(/[^\s`?<]*)[`?]")
LINK = re.compile(r"\]\(([^)\s]+)\)")
# What training processes call, and what pages do.
NO_OPERATION = re.compile(r"^/ingest|^/checkpoints/register$|\.json$")
OF_EVERY_COMMAND = {"--help", "--version", "--install-completion", "--show-completion"}

each = pytest.mark.parametrize("text_file", PAGES, ids=lambda path: str(path.relative_to(ROOT)))


@each
def test_every_command_that_is_shown_takes_its_options(text_file: Path) -> None:
    for shown in SHOWN.findall(text_file.read_text()):
        words = shown.partition(" #")[0].split()
        found: Any = command()
        while words and hasattr(found, "commands") and words[0] in found.commands:
            found = found.commands[words.pop(0)]
        assert not (words and hasattr(found, "commands")), f"safehold {shown}"
        known = {
            name for one in found.params for name in [*one.opts, *one.secondary_opts]
        } | OF_EVERY_COMMAND
        assert set(OPTION.findall(" ".join(words))) <= known, f"safehold {shown}"


@each
def test_every_command_of_django_that_is_shown_is_there(text_file: Path) -> None:
    assert set(re.findall(r"manage\.py ([a-z_]+)", text_file.read_text())) <= set(get_commands())


@each
def test_every_operation_that_is_named_is_there(text_file: Path) -> None:
    named = {(method, plain(path)) for method, path in OPERATION.findall(text_file.read_text())}
    assert {one for one in named if not NO_OPERATION.search(one[1])} <= operations()


@each
def test_every_link_leads_somewhere(text_file: Path) -> None:
    for target in LINK.findall(text_file.read_text()):
        if re.match(r"[a-z]+:", target):
            continue
        name, _, heading = target.partition("#")
        leads_to = (text_file.parent / name) if name else text_file
        assert leads_to.exists(), target
        assert not heading or heading in set(headings(leads_to)), target


@cache
def operations() -> set[tuple[str, str]]:
    paths = api.get_openapi_schema(path_prefix="")["paths"]
    return {(method.upper(), plain(path)) for path, ones in paths.items() for method in ones}


def plain(path: str) -> str:
    return re.sub(r"\{\w+\}", "{}", "/" + path.strip("/"))


def headings(text_file: Path) -> Iterator[str]:
    for line in re.findall(r"^#+ (.*)$", text_file.read_text(), re.M):
        yield re.sub(r"[^\w\- ]", "", line.lower()).replace(" ", "-")
