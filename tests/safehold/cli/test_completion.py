"""Completion as a shell asks for it."""

import os
import subprocess
import sys

import pytest


def completed(words: str, shell: str = "bash") -> list[str]:
    """Return what is offered for the last word."""
    number = str(len(words.split(" ")) - 1)
    given = {"_SAFEHOLD_COMPLETE": f"complete_{shell}", "COMP_WORDS": words, "COMP_CWORD": number}
    given |= {"_TYPER_COMPLETE_ARGS": words, "_TYPER_COMPLETE_FISH_ACTION": "get-args"}
    ran = subprocess.run(
        [sys.executable, "-m", "safehold.cli"],
        env=os.environ | given,
        capture_output=True,
        text=True,
    )
    return ran.stdout.split("\n")


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        ("safehold checkp", "checkpoint"),
        ("safehold run unar", "unarchive"),
        ("safehold run list --sta", "--state"),
        ("safehold run list --state fai", "failed"),
        ("safehold run list --order l", "loss"),
        ("safehold view sa", "save"),
    ],
)
def test_commands_options_and_words_are_offered(words: str, offered: str) -> None:
    assert offered in completed(words)


def test_another_shell_is_served_too() -> None:
    assert any("checkpoint" in line for line in completed("safehold checkp", "zsh"))


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_of_a_shell_is_printed(shell: str) -> None:
    ran = subprocess.run(
        [sys.executable, "-m", "safehold.cli", "--show-completion", shell],
        # Whatever shell the tests were started from.
        env=os.environ | {"_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"},
        capture_output=True,
        text=True,
    )
    assert ran.returncode == 0
    assert "_SAFEHOLD_COMPLETE" in ran.stdout
