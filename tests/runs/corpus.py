"""A small real corpus, and run configs on it."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from safehold.preflight import tokenizer_digest
from tests.safehold.documents import make_document


def documents_on(folder: Path) -> Callable[..., dict[str, Any]]:
    """Write a corpus below the folder; return a maker of sound config documents on it."""
    (folder / "corpus").mkdir()
    (folder / "corpus/a.jsonl").write_text('{"text": "one"}\n{"text": "two"}\n')
    tokenizer = folder / "corpus/tokenizer.json"
    tokenizer.write_text(json.dumps({"model": {"vocab": {"a": 0, "b": 1}}, "added_tokens": []}))
    places = {
        "data__path": str(folder / "corpus"),
        "tokenizer__path": str(tokenizer),
        "tokenizer__digest": tokenizer_digest(tokenizer),
        "checkpoint__root": str(folder / "checkpoints"),
    }
    return lambda **changes: make_document(**places | changes)
