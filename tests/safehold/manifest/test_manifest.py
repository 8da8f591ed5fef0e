"""A manifest is read as a whole or refused with the field named; paths stay inside."""

import json
import os
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from safehold.checkpointing.verification.listing import list_below
from safehold.manifest import (
    Component,
    Expected,
    FileEntry,
    Manifest,
    ManifestError,
    PathError,
    TensorEntry,
    check_relative,
    compare,
    describe,
    expected_of,
    open_inside,
    parse,
    read,
    write,
)

CASES = Path(__file__).parents[2] / "cases" / "checkpoints"
GOOD = Manifest(
    step=7,
    tokens=70,
    created="2026-01-01T00:00:00+00:00",
    config_hash="blake3:c",
    model={"layers": 4, "hidden": 8},
    tokenizer_digest="blake3:t",
    data_version="blake3:d",
    mix_version="m",
    world={"size": 4},
    parent="/checkpoints/run-1/a1/step-5",
    files=(FileEntry("model.safetensors", 9, "0" * 64),),
    components={
        "model": Component(("model.safetensors",), (TensorEntry("w", (2, 3), "F32"),), {"out": "w"})
    },
)


def test_written_manifest_reads_back_equal(tmp_path):
    write(tmp_path, GOOD)
    assert read(tmp_path) == GOOD
    assert GOOD.size_bytes == 9
    assert GOOD.missing_components == ("optimizer", "scheduler", "rng", "sampler")


def test_manifest_of_sha256_is_read_in_our_form():
    found = read(CASES / "good_step_200")
    assert (found.step, found.digest_algorithm, found.world) == (200, "sha256", {"size": 1})
    assert found.missing_components == ()
    assert found.components["optimizer"].files == ("optimizer.pt",)
    assert parse(json.dumps(found.to_dict())) == found


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format_version": 2}, "`format_version` is 2; this Safehold reads 1"),
        ({"step": -1}, "`step` is -1"),
        ({"step": True}, "`step` is True"),
        ({"step": 10**30}, r"`step` is 1000000000.* from 0 to 2\^63-1"),
        ({"tokens": 2**63}, "`tokens` is 9223372036854775808"),
        ({"step": "7"}, "`step` is '7'; it must be a whole number"),
        ({"kind": "best"}, "`kind` is 'best'; it must be anchor or snapshot"),
        ({"digest_algorithm": "md5"}, "`digest_algorithm` is 'md5'"),
        ({"files": {}}, "`files` is {}; it must be a list"),
        ({"files": [{"path": "/etc/passwd", "size": 1, "digest": "0" * 64}]}, "is absolute"),
        ({"files": [{"path": "a", "size": 1, "digest": "0"}]}, "`files\\[0\\].digest` of 'a'"),
        ({"files": [{"path": "a", "size": -1, "digest": "0" * 64}]}, "`size` is -1"),
        (
            {"files": [{"path": "manifest.json", "size": 1, "digest": "0" * 64}]},
            "not the manifest itself",
        ),
        ({"components": {"heart": {}}}, "`components.heart` is unknown"),
        ({"components": {"model": {"files": ["b"]}}}, "uses 'b', not in `files`"),
        ({"created": None}, "`created` is missing"),
        ({"world": {"size": "4"}}, "`size` is '4'; it must be a whole number"),
        ({"world": {"rng": 5}}, "`rng` is 5; it must be a list"),
    ],
)
def test_wrong_field_is_named(change, message):
    with pytest.raises(ManifestError, match=message):
        parse(json.dumps(GOOD.to_dict() | change))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "not valid JSON"),
        (b"\xff\xfe", "not valid JSON"),
        (b"[1]", "a manifest is a map"),
        (b'{"step": 1, "step": 2}', "`step` stands twice"),
        (b"[" * 100_000, "not valid JSON"),
        (b'{"model": {"dropout": NaN}}', "It holds NaN"),
        (b'{"model": {"dropout": -Infinity}}', "It holds -Infinity"),
    ],
)
def test_what_is_no_manifest_is_told(content, message):
    with pytest.raises(ManifestError, match=message):
        parse(content)


def test_missing_manifest_means_unfinished(tmp_path):
    with pytest.raises(ManifestError, match="was never finished"):
        read(tmp_path)


def test_differences_name_the_fields_and_say_which_block():
    expected = Expected(
        model={"layers": 6, "hidden": 8},
        tokenizer_digest="blake3:x",
        data_version="blake3:d",
        mix_version="m",
        world={"size": 2},
    )
    found = compare(GOOD, expected)
    assert [(item.field, item.blocks) for item in found] == [
        ("model.layers", True),
        ("tokenizer_digest", True),
        ("world.size", False),
    ]
    assert describe(found[:1]) == "model.layers (saved 4, now 6)"


def test_what_nobody_states_is_not_compared():
    assert compare(GOOD, Expected()) == []


def test_expectation_follows_from_the_config():
    config = {
        "network": {"layers": 4, "hidden": 8},
        "tokenizer": {"digest": "blake3:t"},
        "data": {"version": "blake3:d", "mix": {}},
    }
    expected = expected_of(config, config_hash="blake3:c", world_size=4)
    assert compare(replace(GOOD, mix_version=expected.mix_version), expected) == []
    other = expected_of({**config, "data": {"version": "blake3:d", "mix": {"code": 1.0}}})
    assert [
        item.field for item in compare(replace(GOOD, mix_version=expected.mix_version), other)
    ] == ["mix_version"]


@pytest.mark.parametrize(
    "path",
    ["", ".", "..", "/a", "../a", "a/../b", "a//b", "a/", "./a", "a\\b", "a\0b", "a\nb", "x" * 2000, "a/.."],
)  # fmt: skip
def test_unsafe_path_is_refused(path):
    with pytest.raises(PathError):
        check_relative(path)


@pytest.mark.parametrize("path", ["a", "a/b.c", "step 1/ä.bin", "..a", "a..b/c"])
def test_plain_path_is_taken(path):
    assert check_relative(path) == path


def test_nothing_is_opened_through_a_link(tmp_path):
    inside = tmp_path / "inside"
    (inside / "real").mkdir(parents=True)
    (tmp_path / "secret").write_text("secret")
    (inside / "file").symlink_to(tmp_path / "secret")
    (inside / "folder").symlink_to(tmp_path)
    os.mkfifo(inside / "pipe")
    for path in ("file", "folder/secret", "pipe", "real"):
        with pytest.raises(PathError):
            open_inside(inside, path)
    with pytest.raises(FileNotFoundError):
        open_inside(inside, "nothing")
    assert sorted(list_below(inside, 100).links) == ["file", "folder", "pipe"]


def test_manifest_that_is_a_link_is_not_read(tmp_path):
    (tmp_path / "elsewhere").mkdir()
    write(tmp_path / "elsewhere", GOOD)
    (tmp_path / "manifest.json").symlink_to(tmp_path / "elsewhere" / "manifest.json")
    with pytest.raises(ManifestError, match="cannot be read"):
        read(tmp_path)


def test_reading_a_manifest_loads_only_the_standard_library():
    code = (
        "import sys; before = set(sys.modules); import safehold.manifest;"
        "print(*{name.split('.')[0] for name in set(sys.modules) - before} - set(sys.stdlib_module_names))"
    )
    assert subprocess.check_output([sys.executable, "-c", code], text=True).split() == ["safehold"]


def test_many_keys_before_one_that_stands_twice_take_a_moment():
    keys = [f'"{number}": 0' for number in range(200_000)]
    began = time.process_time()
    with pytest.raises(ManifestError, match="`199999` stands twice"):
        parse("{" + ", ".join([*keys, keys[-1]]) + "}")
    assert time.process_time() - began < 5  # counting each name anew took minutes


def test_a_folder_with_a_name_that_cannot_be_is_refused(tmp_path):
    with pytest.raises(PathError, match="goes through a link or a file"):
        open_inside(tmp_path, "a" * 300 + "/b")
