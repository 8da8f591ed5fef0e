"""Hash the files of a tokenizer and read its largest ids."""

import hashlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from blake3 import blake3

from safehold.preflight.facts import TokenizerFacts
from safehold.preflight.gathering.data import records_of, shards_of
from safehold.preflight.visible import visible

# What decides how text becomes ids; other files of a folder (README, model weights) do not.
FILE_NAMES = (
    "added_tokens.json", "merges.txt", "special_tokens_map.json", "spiece.model", "tokenizer.json", "tokenizer.model",
    "tokenizer_config.json", "vocab.json", "vocab.txt",
)  # fmt: skip
SHOWN_IDS = 20
LARGEST_NUM_SAMPLES = (
    20_000  # records looked through for the first use of a token beyond the embedding
)


def tokenizer_digest(path: str | Path, algorithm: str = "blake3") -> str:
    """Return the digest that locks a tokenizer, the same that the trainer compares.

    Of a file its own digest; of a folder that of tokenizer.json, which holds everything; of a folder without one that
    of the list of its other files (name, size, digest).

    Raises:
        OSError: It is not there or cannot be read.
    """
    return _combined(_file_digests(Path(path), algorithm), algorithm)


def read_tokenizer(
    path: str, *, algorithm: str = "blake3", rows: int | None = None, data_path: str = ""
) -> TokenizerFacts:
    """Gather the facts of a tokenizer.

    Args:
        path: A tokenizer.json, or a folder that holds it.
        algorithm: `blake3` or `sha256`, as the config's digest names it.
        rows: Rows of the embedding; the first use of a token beyond them is looked for in the data.
        data_path: Where to look.
    """
    try:
        files = _file_digests(Path(path), algorithm)
    except OSError as error:
        return TokenizerFacts(path, error=f"{error.strerror or error}")
    ids, error_text = _ids(Path(path))
    shown = dict(sorted(ids.items(), reverse=True)[:SHOWN_IDS])
    beyond = {token for number, token in ids.items() if rows is not None and number >= rows}
    return TokenizerFacts(
        path=path,
        digest=_combined(files, algorithm),
        files={name: digest for name, (_, digest) in files.items()},
        largest_id=max(ids, default=None),
        tokens_by_id={number: visible(token) for number, token in shown.items()},
        first_uses={visible(token): place for token, place in _first_uses(beyond, data_path)},
        error=error_text,
    )


def _file_digests(path: Path, algorithm: str) -> dict[str, tuple[int, str]]:
    if path.is_dir():
        paths = [path / name for name in FILE_NAMES if (path / name).is_file()]
        if not paths:
            raise FileNotFoundError(2, "it holds no tokenizer file", str(path))
    else:
        paths = [path]
    contents = {one.name: one.read_bytes() for one in paths}
    return {name: (len(content), _digest(content, algorithm)) for name, content in contents.items()}


def _combined(files: Mapping[str, tuple[int, str]], algorithm: str) -> str:
    if "tokenizer.json" in files:
        return files["tokenizer.json"][1]
    if len(files) == 1:
        return next(iter(files.values()))[1]
    listing = "".join(f"{name} {size} {digest}\n" for name, (size, digest) in sorted(files.items()))
    return _digest(listing.encode(), algorithm)


def _digest(content: bytes, algorithm: str) -> str:
    if algorithm == "sha256":
        return f"sha256:{hashlib.sha256(content).hexdigest()}"
    return f"blake3:{blake3(content).hexdigest()}"


def _ids(path: Path) -> tuple[dict[int, str], str]:
    where = path / "tokenizer.json" if path.is_dir() else path
    try:
        document = json.loads(where.read_bytes())
        return dict(_listed_ids(document)), ""
    except OSError:
        return {}, f"{where} cannot be read"
    except (ValueError, AttributeError, KeyError, TypeError, IndexError, RecursionError):
        return {}, f"{where} is no tokenizer.json"


def _listed_ids(document: Any) -> Iterator[tuple[int, str]]:
    """Yield id and token of the vocabulary and of the added tokens, which a vocabulary's size leaves out."""
    vocabulary = document["model"]["vocab"]
    if isinstance(vocabulary, dict):
        yield from ((int(number), str(token)) for token, number in vocabulary.items())
    else:  # Unigram: a list of [token, score]
        yield from ((number, str(entry[0])) for number, entry in enumerate(vocabulary))
    for added in document.get("added_tokens") or []:
        yield int(added["id"]), str(added["content"])


def _first_uses(tokens: set[str], data_path: str) -> Iterator[tuple[str, str]]:
    left, looked_at = set(tokens), 0
    for shard in shards_of(data_path) if tokens and data_path else []:
        for line, record in records_of(shard):
            text = record.get("text")
            found = {token for token in left if isinstance(text, str) and token in text}
            yield from ((token, f"{shard}:{line}") for token in sorted(found))
            left -= found
            looked_at += 1
            if not left or looked_at >= LARGEST_NUM_SAMPLES:
                return
