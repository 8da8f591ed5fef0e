"""Train, load and lock a byte-level BPE tokenizer. `tokenizers` is imported where it is used."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from blake3 import blake3

if TYPE_CHECKING:
    from tokenizers import Tokenizer

END_OF_TEXT = "<|end_of_text|>"
FILE_NAME = "tokenizer.json"


class TokenizerError(ValueError):
    """A tokenizer that is not there or not the one that was locked."""


def train(texts: Iterable[str], vocabulary: int) -> Tokenizer:
    """Return a byte-level BPE tokenizer: no text is lost, no token is unknown.

    Args:
        texts: Read once.
        vocabulary: Tokens in all, the end of text among them as the last of the ids below it.
    """
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=vocabulary,
        special_tokens=[END_OF_TEXT],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(texts, trainer)
    return tokenizer


def digest(path: Path) -> str:
    """Return the digest that locks a tokenizer file, `blake3:…`.

    Raises:
        TokenizerError: it is not there.
    """
    where = path / FILE_NAME if path.is_dir() else path
    try:
        return f"blake3:{blake3(where.read_bytes()).hexdigest()}"
    except OSError as error:
        raise TokenizerError(f"The tokenizer {where} cannot be read: {error.strerror}.") from error


def load(path: Path, *, locked: str = "") -> Tokenizer:
    """Load a tokenizer file, or the one in a folder.

    Args:
        path: The file or its folder.
        locked: The digest that the config names; empty = any.

    Raises:
        TokenizerError: it is not there, damaged, or another than the locked one.
    """
    from tokenizers import Tokenizer

    found = digest(path)
    if locked and found != locked:
        raise TokenizerError(
            f"The tokenizer {path} has digest {found}, the config locks {locked}. "
            "Restore the files, or prepare the data again with this tokenizer."
        )
    where = path / FILE_NAME if path.is_dir() else path
    try:
        return Tokenizer.from_file(str(where))
    except Exception as error:  # the library raises bare Exception
        raise TokenizerError(f"The tokenizer {where} is damaged: {error}.") from error


def end_of_text(tokenizer: Tokenizer) -> int:
    """Return the id of the token that ends a document.

    Raises:
        TokenizerError: it has none.
    """
    number = tokenizer.token_to_id(END_OF_TEXT)
    if number is None:
        raise TokenizerError(f"The tokenizer has no token {END_OF_TEXT}; train it with Safehold.")
    return int(number)
