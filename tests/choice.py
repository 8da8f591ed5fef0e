"""Which tests run: those with a costly marker only when asked for by an option, `-m` or by name.

The slowest files come first, so that no process is left alone with one in the end.
"""

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


def seconds_of(item: pytest.Item) -> float:
    """Return how long the file of a slow test takes, as its marker says; 0 for every other test."""
    mark = item.get_closest_marker("slow")
    return float(mark.args[0]) if mark else 0.0


def choose(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Take out the costly tests that were not asked for, and put the slowest files first.

    Raises:
        UsageError: an end-to-end test lies where `make e2e` does not look.
    """
    if lost := [
        one.nodeid
        for one in items
        if one.get_closest_marker("e2e") and END_TO_END not in one.path.parents
    ]:
        raise pytest.UsageError(f"{lost[0]} is marked e2e: move it to tests/e2e.")
    longest: dict[Path, float] = {}
    for item in items:
        longest[item.path] = max(longest.get(item.path, 0), seconds_of(item))
    items.sort(key=lambda item: -longest[item.path])
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
