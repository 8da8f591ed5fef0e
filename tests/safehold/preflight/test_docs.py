"""Registry, tests and docs name the same checks."""

import re
from pathlib import Path

from safehold.preflight import all_checks

ROOT = Path(__file__).parents[3]


def slugs() -> set[str]:
    return {one.code.partition(".")[2] for one in all_checks()}


def test_every_check_has_its_heading() -> None:
    text = (ROOT / "docs/checks.md").read_text(encoding="utf-8")
    assert set(re.findall(r"^## `(.+)`$", text, re.MULTILINE)) == {one.code for one in all_checks()}


def test_every_check_lies_in_a_file_of_its_slug() -> None:
    files = {path.stem for path in (ROOT / "safehold/preflight/checks").glob("[!_]*.py")}
    assert files == slugs()
    assert {one.judge.__name__ for one in all_checks()} == slugs()


def test_every_check_has_its_test() -> None:
    tests = {
        path.stem.removeprefix("test_")
        for path in (Path(__file__).parent / "checks").glob("test_*.py")
    }
    assert tests == slugs()
