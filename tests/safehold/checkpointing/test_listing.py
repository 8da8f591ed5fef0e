"""Verification of what is no checkpoint: any folder that a person may name by mistake."""

import os
import time
from pathlib import Path
from typing import Any

import pytest

from safehold.checkpointing.verification import listing, verify
from safehold.checkpointing.verification.listing import list_below


def said(path: Path) -> dict[str, Any]:
    """Return the findings on the manifest, by severity."""
    found = verify(path)
    return {one.severity: one for one in found.findings if one.code == "CKPT-5.manifest"}


def test_a_folder_without_a_manifest_says_what_was_looked_for_and_found(tmp_path: Path) -> None:
    for name in ("a.safetensors", "b.safetensors", "notes.txt"):
        (tmp_path / name).write_bytes(b"x")
    found = said(tmp_path)
    assert "manifest.json" in found["fail"].message
    assert found["info"].message == (
        f"Looked for manifest.json or .metadata in {tmp_path}; found 3 files: 2 .safetensors, 1 .txt."
    )


def test_an_empty_folder_says_so(tmp_path: Path) -> None:
    assert said(tmp_path)["info"].message.endswith("found 0 files.")


def test_checkpoints_below_are_named(tmp_path: Path) -> None:
    for step in ("step-5", "step-10"):
        (tmp_path / "a1" / step).mkdir(parents=True)
        (tmp_path / "a1" / step / "manifest.json").write_text("{}")
    advice = said(tmp_path)["fail"].advice
    assert advice == "There are checkpoints below it: a1/step-10, a1/step-5. Name one of them."


def test_the_data_of_a_file_that_no_manifest_names_is_not_read(tmp_path: Path) -> None:
    with (tmp_path / "huge.bin").open("wb") as file:
        file.truncate(1 << 40)
    began = time.perf_counter()
    findings = {one.code: one.severity for one in verify(tmp_path).findings}
    assert time.perf_counter() - began < 1
    assert findings["CKPT-5.finite"] == "info"  # not judged, and not said to be sound
    assert findings["CKPT-5.manifest"] in {"fail", "info"}


def test_a_hundred_thousand_files_take_a_moment(tmp_path: Path) -> None:
    few = _crowd(tmp_path / "few", 1_000)
    many = _crowd(tmp_path / "many", 100_000)
    assert list_below(few, 100_000).is_cut is False
    found = verify(many)
    assert found.verdict == "fail"
    assert found.seconds < 1.5  # 0.1 s where the machine is free
    assert any("at least" in one.message for one in found.findings)


def _crowd(folder: Path, num: int) -> Path:
    """Make many names, which hard links do fastest."""
    folder.mkdir()
    first = folder / "0"
    first.touch()
    for number in range(1, num):
        if number % 20_000 == 0:  # below what a file system lets one file be linked
            first = folder / f"n{number}"
            first.touch()
        os.link(first, folder / str(number))
    return folder


def test_links_that_lead_round_are_not_followed(tmp_path: Path) -> None:
    (tmp_path / "below").mkdir()
    (tmp_path / "below/up").symlink_to(tmp_path)
    (tmp_path / "self").symlink_to("self")
    found = list_below(tmp_path, 100)
    assert sorted(found.links) == ["below/up", "self"]
    assert (found.files, found.is_cut) == ((), False)
    assert any(one.code == "CKPT-5.links" and one.severity == "fail" for one in verify(tmp_path).findings)  # fmt: skip


def test_a_tree_as_deep_as_paths_can_be_ends(tmp_path: Path) -> None:
    here = os.getcwd()
    os.chdir(tmp_path)
    try:
        for _ in range(60):
            os.mkdir("d" * 100)
            os.chdir("d" * 100)
    finally:
        os.chdir(here)
    found = list_below(tmp_path, 1000)
    assert len(found.closed) == 1  # where a path gets longer than the kernel takes
    assert verify(tmp_path).verdict == "fail"


def test_what_may_not_be_opened_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "secret").mkdir()
    scan = os.scandir

    def refusing(path: Path) -> Any:
        if Path(path).name == "secret":
            raise PermissionError(13, "Permission denied", str(path))
        return scan(path)

    monkeypatch.setattr(listing.os, "scandir", refusing)
    assert list_below(tmp_path, 100).closed == ("secret",)
    assert any("1 folders cannot be opened: secret." in one.message for one in verify(tmp_path).findings)  # fmt: skip


@pytest.mark.parametrize("kind", ["pipe", "device"])
def test_what_is_no_file_does_not_hang(tmp_path: Path, kind: str) -> None:
    path = Path("/dev/zero")
    if kind == "pipe":
        path = tmp_path / "pipe"
        os.mkfifo(path)
    assert verify(path).verdict == "fail"
    os.mkfifo(tmp_path / "other.bin")
    assert verify(tmp_path).verdict == "fail"
