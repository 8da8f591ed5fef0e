"""The tree of commands, walked: a new command is held to the rules by being there."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from safehold.cli.application import command

# These read files alone, or run the service itself.
OFFLINE = {"up", "demo", "verify", "preflight", "plan"}
CONFIG = 'name = "a"\n'


@dataclass(frozen=True)
class Leaf:
    """One command: the words that choose it, and what the parser knows of it."""

    words: tuple[str, ...]
    click: Any

    @property
    def name(self) -> str:
        return " ".join(self.words)

    def call(self, folder: Path, known: Mapping[str, object] | None = None) -> list[str]:
        """Return the words of a call that has all it needs; `known` are values by the name of the parameter."""
        found, known = list(self.words), known or {}
        for one in self.click.params:
            value = str(known[one.name]) if one.name in known else value_of(one, folder)
            if one.param_type_name == "argument":
                found += [value]
            elif one.required:
                found += [one.opts[0], value]
            elif "--yes" in one.opts:
                found += ["--yes"]
            elif "--kubeconfig" in one.opts:
                found += ["--kubeconfig", str(kubeconfig(folder))]
        return found


def leaves() -> Iterator[Leaf]:
    yield from _below(command(), ())


def online() -> list[Leaf]:
    return [leaf for leaf in leaves() if leaf.words[0] not in OFFLINE]


def value_of(one: Any, folder: Path) -> str:
    """Return a value that a parameter takes."""
    kind = str(one.type_descriptor.annotation)
    if "Path" in kind:
        path = folder / "a.toml"
        path.write_text(CONFIG)
        return str(path)
    return "1" if "int" in kind or one.name == "config" else "x"


def kubeconfig(folder: Path) -> Path:
    path = folder / "kube.yaml"
    path.write_text(
        "apiVersion: v1\nkind: Config\ncurrent-context: a\n"
        "contexts: [{name: a, context: {cluster: a, user: a}}]\n"
        "clusters: [{name: a, cluster: {server: 'https://127.0.0.1:1'}}]\n"
        "users: [{name: a, user: {token: t}}]\n"
    )
    return path


def _below(group: Any, words: tuple[str, ...]) -> Iterator[Leaf]:
    for name, one in group.commands.items():
        if hasattr(one, "commands"):
            yield from _below(one, (*words, name))
        else:
            yield Leaf((*words, name), one)
