"""Data and tokenizer are named by what they are."""

import pytest

from safehold.data import tokenizer
from safehold.data.version import data_file, data_version
from safehold.preflight.gathering.tokenizer import tokenizer_digest


def test_version_depends_on_content_names_and_order(tmp_path):
    for name in ("a", "b"):
        (tmp_path / name).write_text(name)
    files = [data_file(tmp_path / name, tmp_path) for name in ("a", "b")]
    version = data_version(files)
    assert version.startswith("blake3:")
    assert data_version(reversed(files)) != version
    (tmp_path / "b").write_text("c")
    assert data_version([files[0], data_file(tmp_path / "b", tmp_path)]) != version


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tokenizer")
    made = tokenizer.train(["hello world, hello tokens"] * 20, 300)
    made.save(str(folder / tokenizer.FILE_NAME))
    return folder


def test_text_survives_the_round_trip(trained):
    loaded = tokenizer.load(trained)
    text = "  leading spaces\n\ttabs, emoji 👍 and 中文"
    assert loaded.decode(loaded.encode(text).ids) == text


def test_digest_is_the_one_that_preflight_locks(trained):
    assert tokenizer.digest(trained) == tokenizer_digest(trained)


def test_another_tokenizer_than_the_locked_one_is_refused(trained):
    with pytest.raises(tokenizer.TokenizerError, match="the config locks blake3:other"):
        tokenizer.load(trained, locked="blake3:other")


def test_missing_and_damaged_tokenizers_are_told(tmp_path):
    with pytest.raises(tokenizer.TokenizerError, match="cannot be read"):
        tokenizer.load(tmp_path)
    (tmp_path / tokenizer.FILE_NAME).write_text("{}")
    with pytest.raises(tokenizer.TokenizerError, match="is damaged"):
        tokenizer.load(tmp_path)
