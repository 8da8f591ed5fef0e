import json
from pathlib import Path
from typing import Any

import pytest
import tomlkit
import yaml

from safehold.config import ConfigInvalid, Format, config_hash, read_document, read_file, read_text
from tests.cases import CASES
from tests.safehold.documents import make_document


def as_text(document: dict[str, Any], form: Format) -> str:
    if form == "yaml":
        return str(yaml.safe_dump(document))
    return tomlkit.dumps(document) if form == "toml" else json.dumps(document)


@pytest.mark.parametrize("form", ["toml", "yaml", "json"])
def test_the_three_forms_give_one_config(form: Format) -> None:
    assert config_hash(read_text(as_text(make_document(), form), form)) == config_hash(
        read_text(as_text(make_document(), "toml"))
    )


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1e-4", 1e-4), ("3e4", 3e4), ("1.", 1.0), (".5", 0.5), ("-.inf", float("-inf")), ("012", 12), ("0o14", 12),
        ("0x1F", 31), ("+3", 3), ("no", "no"), ("yes", "yes"), ("on", "on"), ("y", "y"), ("True", True), ("~", None),
        ("", None), ("1_000", "1_000"), ("12:30:45", "12:30:45"), ("2026-01-01", "2026-01-01"), ("0b1", "0b1"),
        ("'3e-4'", "3e-4"), ("=", "="), ("1e5.0", "1e5.0"),
    ],
)  # fmt: skip
def test_yaml_is_read_as_version_1_2(text: str, value: object) -> None:
    found = read_document(f"a: {text}", "yaml")[0]["a"]
    assert found == value
    assert type(found) is type(value)


def test_scientific_notation_in_yaml_is_a_number() -> None:
    """The case: 3e-4 in YAML 1.1 is a string."""
    found, _ = read_document((CASES / "config/scientific_notation.yaml").read_bytes(), "yaml")
    optimizer = found["optimizer"]
    assert (optimizer["learning_rate"], optimizer["eps"]) == (0.0003, 1e-8)
    assert optimizer["min_lr"] == pytest.approx(optimizer["learning_rate"] / 10)


@pytest.mark.parametrize(
    ("form", "text", "words"),
    [
        ("yaml", "a: 1\nb: 2\na: 3", "line 3: Not valid YAML 1.2: the key 'a' stands twice"),
        ("yaml", "a: {b: 1, b: 2}", "line 1: .*'b' stands twice"),
        ("yaml", "a: &x 1\nb: *x", "line 2: .*aliases are not read"),
        ("yaml", "a: !!python/object:os.system {}", "Not valid YAML"),
        ("yaml", "a: [1", "Not valid YAML"),
        ("yaml", "a: 1\n---\nb: 2", "Not valid YAML"),
        ("yaml", "- 1", "not a table"),
        ("yaml", "", "not a table"),
        ("yaml", "? [a]\n: 1", "a key is not plain text"),
        ("toml", "a = 1\na = 2\nb = 3", "line 2: Not valid TOML"),
        ("toml", "a = ", "Not valid TOML"),
        ("json", '{"a": 1, "a": 2}', "a: The key 'a' stands twice"),
        ("json", '{"a": NaN}', "NaN is not a number"),
        ("json", '{"a": -Infinity}', "-Infinity is not a number"),
        ("json", '{"a": }', "line 1: Not valid JSON"),
        ("json", "[1]", "not a table"),
        ("json", "[" * 100_000, "nested too deeply"),
        ("json", '{"a": ' + "1" * 5000 + "}", "Not valid JSON"),
        ("toml", "a = " + "1" * 5000, "Not valid TOML"),
    ],
)
def test_an_unclear_text_is_refused(form: Format, text: str, words: str) -> None:
    with pytest.raises(ConfigInvalid, match=words):
        read_document(text, form)


def test_bytes_that_are_not_utf8_are_located() -> None:
    with pytest.raises(ConfigInvalid, match="line 2: Byte 11 is not UTF-8"):
        read_document(b'name = "a"\n\xe9 = 1')


def test_a_byte_order_mark_and_crlf_change_nothing() -> None:
    text = as_text(make_document(), "toml")
    windows = b"\xef\xbb\xbf" + text.replace("\n", "\r\n").encode()
    assert config_hash(read_text(windows)) == config_hash(read_text(text))


def test_a_huge_text_is_not_read() -> None:
    with pytest.raises(ConfigInvalid, match="at most 1048576"):
        read_document("#" * (1 << 20) + "\n")


@pytest.mark.parametrize(
    ("form", "text", "line"),
    [
        ("toml", '[optimizer]\n\nlr = "3e-4"', 3),
        ("toml", 'optimizer.lr = "3e-4"', 1),
        ("toml", '[ "optimizer" ]\n"lr" = "3e-4"', 2),
        ("yaml", 'optimizer:\n  lr: "3e-4"', 2),
        ("json", '{"optimizer": {"lr": "3e-4"}}', None),
    ],
)
def test_a_fault_has_its_line(form: Format, text: str, line: int | None) -> None:
    with pytest.raises(ConfigInvalid) as caught:
        read_text(text, form)
    found = {error.path: error.line for error in caught.value.errors}
    assert found["optimizer.lr"] == line


def test_a_missing_field_points_at_its_section() -> None:
    with pytest.raises(ConfigInvalid) as caught:
        read_text("name = 'a'\n[optimizer]\neps = 1e-8")
    assert {error.path: error.line for error in caught.value.errors}["optimizer.lr"] == 2


def test_the_suffix_names_the_form(tmp_path: Path) -> None:
    (tmp_path / "a.yml").write_text(as_text(make_document(), "yaml"))
    assert read_file(tmp_path / "a.yml").name == "small"
    with pytest.raises(ConfigInvalid, match=r"Name it \.toml"):
        read_file(tmp_path / "a.ini")
