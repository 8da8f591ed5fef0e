"""The page of the API names every operation, and no other."""

import re
from pathlib import Path

from controlplane.api import api

PAGE = Path(__file__).parents[3] / "docs/reference/api.md"


def test_the_page_names_every_operation() -> None:
    paths = api.get_openapi_schema(path_prefix="")["paths"]
    known = {
        f"{method.upper()} /{path.strip('/')}" for path, ones in paths.items() for method in ones
    }
    told = set(re.findall(r"`((?:GET|POST|PATCH|PUT|DELETE) /[^` ]*)`", PAGE.read_text()))
    assert told == known
