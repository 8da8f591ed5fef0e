"""The table of the pods of an attempt: bounded, and kept when the pods are gone. Pure.

{"num": 3, "words": {"running": 3}, "rows": [{"name", "index", "node", "word", "reason", "exit_code"}, …]}
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

Row = dict[str, Any]
MAX_ROWS = 500
OVER = frozenset({"succeeded", "failed", "gone"})
# Where there are too many to show, those come first that a person looks for.
_ORDER = ("failed", "lost", "gone", "pending", "starting", "ending", "running", "succeeded")


def merged(old: Mapping[str, Any], seen: Iterable[Row]) -> dict[str, Any]:
    """Return the table after another look.

    Args:
        old: The table so far, {} at first.
        seen: The pods that are there now. One that is not there any more stays in the table, with how it ended;
            one that had not ended is *gone*.
    """
    rows = {row["name"]: dict(row) for row in seen}
    for row in old.get("rows") or []:
        if row["name"] not in rows:
            rows[row["name"]] = row if row["word"] in OVER else row | {"word": "gone", "reason": ""}
    words = Counter(row["word"] for row in rows.values())
    shown = sorted(rows.values(), key=_rank)[:MAX_ROWS]
    return {
        "num": len(rows),
        "words": dict(sorted(words.items())),
        "rows": sorted(shown, key=lambda row: (row["index"], row["name"])),
    }


def _rank(row: Row) -> tuple[int, int, str]:
    return _ORDER.index(row["word"]), row["index"], row["name"]
