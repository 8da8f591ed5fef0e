from pathlib import Path

from safehold.config import all_fields
from safehold.config.reference import page

PAGE = Path(__file__).parents[3] / "docs/reference/config.md"


def test_the_page_is_that_of_the_schema() -> None:
    found = PAGE.read_text(encoding="utf-8")
    assert found == page(), "run: python -m safehold.config.reference > docs/reference/config.md"


def test_every_field_has_its_row() -> None:
    text = page()
    for spec in all_fields():
        assert f"| `{spec.path.rpartition('.')[2]}` |" in text
