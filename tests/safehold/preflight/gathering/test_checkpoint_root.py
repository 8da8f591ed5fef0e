import os
from pathlib import Path

import pytest

from safehold.preflight.gathering import probe_root


def test_an_existing_folder_is_written_to_and_left_as_it_was(tmp_path: Path) -> None:
    facts = probe_root(str(tmp_path))
    assert (facts.error, facts.probed) == ("", str(tmp_path))
    assert facts.usable_bytes > 0
    assert list(tmp_path.iterdir()) == []


def test_a_root_to_be_made_is_probed_in_the_folder_above(tmp_path: Path) -> None:
    facts = probe_root(str(tmp_path / "a" / "b"))
    assert (facts.error, facts.probed) == ("", str(tmp_path))
    assert not (tmp_path / "a").exists()


def test_a_file_in_the_way_is_named(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("")
    facts = probe_root(str(tmp_path / "a" / "b"))
    assert (facts.error, facts.probed) == ("it is not a folder", str(tmp_path / "a"))


def test_a_dangling_link_is_no_folder(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to(tmp_path / "gone")
    assert probe_root(str(tmp_path / "a")).error == "it is not a folder"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_refuses_writes_is_named(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    assert probe_root(str(tmp_path)).error == "Permission denied"


def test_a_disk_that_refuses_the_sync_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", refuse)
    assert probe_root(str(tmp_path)).error == "No space left on device"


def test_the_quota_counts_where_it_is_smaller(tmp_path: Path) -> None:
    assert probe_root(str(tmp_path), quota_bytes=10).usable_bytes == 10
