"""docs/reference/configuration.md lists every setting, and none that is not read."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs/reference/configuration.md").read_text()
READ = re.compile(r'env\.(?:text|flag|integer|path|choice|address)\(\s*"([A-Z_]+)"')


def read_by_the_service() -> set[str]:
    files = (ROOT / "controlplane").rglob("*.py")
    return {name for file in files for name in READ.findall(file.read_text())}


def listed(page: str) -> set[str]:
    rows = [line for line in page.splitlines() if line.startswith("| `")]
    return {name for row in rows for name in re.findall(r"`([A-Z_]{4,})`", row.split("|")[1])}


def test_every_setting_is_listed_and_every_listed_one_is_read():
    of_the_service = PAGE.split("## In the environment of a trainer")[0]
    assert listed(of_the_service) == read_by_the_service()
