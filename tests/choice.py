"""Which tests run: those with a costly marker only when asked for by an option, `-m` or by name.

The slowest files come first, so that no process is left alone with one in the end.
"""

from collections import defaultdict
from pathlib import Path

import pytest

END_TO_END = Path(__file__).with_name("e2e")
OPTIONS = {
    "e2e": "run tests with a browser, or a real worker and trainer",
    "slow": "run tests that take more than ten seconds",
    "gpu": "run tests that need a CUDA device",
    "cluster": "run tests against the cluster of KUBECONFIG",
}


def add_options(parser: pytest.Parser) -> None:
    """Add one option a marker."""
    group = parser.getgroup("safehold")
    for marker, text in OPTIONS.items():
        group.addoption(f"--{marker}", action="store_true", help=text)


def refuse_misplaced(items: list[pytest.Item]) -> None:
    """Hold end-to-end tests to their folder."""
    for one in items:
        if one.get_closest_marker("e2e") and END_TO_END not in one.path.parents:
            raise pytest.UsageError(f"{one.nodeid} is marked e2e: move it to tests/e2e.")


def put_longest_first(items: list[pytest.Item]) -> None:
    """Sort the tests by what their file takes in seconds, as its marker `slow` says; 0 without one."""
    longest: dict[Path, float] = defaultdict(float)
    for item in items:
        if mark := item.get_closest_marker("slow"):
            if not mark.args:
                raise pytest.UsageError(f"{item.nodeid}: say slow(seconds), of its whole file.")
            longest[item.path] = max(longest[item.path], mark.args[0])
    items.sort(key=lambda item: -longest[item.path])


def choose(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Take out the costly tests that were not asked for, and put the slowest files first.

    Raises:
        UsageError: an end-to-end test lies where `make e2e` does not look.
    """
    refuse_misplaced(items)
    put_longest_first(items)
    if config.option.markexpr:
        return
    is_named = any(argument.split("::")[0].endswith(".py") for argument in config.args)
    unwanted = {
        marker
        for marker in OPTIONS
        if not config.getoption(f"--{marker}") and not (is_named and marker in {"e2e", "slow"})
    }
    chosen, left_out = [], []
    for item in items:
        is_unwanted = unwanted & {mark.name for mark in item.iter_markers()}
        (left_out if is_unwanted else chosen).append(item)
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = chosen
