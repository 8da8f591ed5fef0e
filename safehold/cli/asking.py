"""What a person says before an act that cannot be taken back: yes, and which version was read."""

import sys
from typing import Annotated

import typer

from safehold.cli.output import CannotRun

Seen = Annotated[
    str,
    typer.Option(
        metavar="VERSION",
        help="`version` as you read it (show --json): refused where somebody changed it since.",
    ),
]
Yes = Annotated[bool, typer.Option("--yes", help="Do not ask.")]


def can_ask() -> bool:
    """Whether a person sits at the other end."""
    return sys.stdin.isatty()


def ask(question: str, yes: bool) -> None:
    """Go on where a person at a terminal agrees, or said `--yes` before.

    Raises:
        CannotRun: Nobody can be asked, or the answer is no.
    """
    if yes:
        return
    if not can_ask():
        raise CannotRun(f"{question} Nobody can be asked here: say --yes to do it.")
    if not typer.confirm(question, err=True):
        raise CannotRun("nothing was done.")
