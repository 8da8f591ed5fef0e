from pathlib import Path

from safehold.planning.reference import page

PAGE = Path(__file__).parents[3] / "docs/reference/card.md"


def test_the_page_is_what_the_schema_says() -> None:
    assert PAGE.read_text() == page(), (
        "run: python -m safehold.planning.reference > docs/reference/card.md"
    )
