from pathlib import Path

import pytest

from tests.safehold.cli.conftest import Command

pytest.importorskip("torch")


def test_a_missing_manifest_blocks(safehold: Command, tmp_path: Path) -> None:
    ran = safehold("verify", tmp_path, "--json")
    assert ran.code == 1
    assert ran.document["verdict"] == "fail"
    assert ran.document["path"] == str(tmp_path)
    assert any(one["code"] == "CKPT-5.manifest" for one in ran.document["findings"])
    assert f"Looked for manifest.json or .metadata in {tmp_path}; found 0 files." in safehold("verify", tmp_path).out  # fmt: skip


def test_a_link_to_itself_cannot_be_looked_at(safehold: Command, tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to("loop")
    ran = safehold("verify", tmp_path / "loop")
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
    assert "symbolic links" in ran.err


def test_a_name_that_is_too_long_or_odd_is_one_line_or_printed(
    safehold: Command, tmp_path: Path
) -> None:
    assert safehold("verify", "x" * 5000).code == 2
    odd = Path(str(tmp_path) + "/a\udcff\n")
    odd.mkdir()
    ran = safehold("verify", odd, "--json")
    assert (ran.code, ran.document["path"]) == (1, str(odd))
    assert safehold("verify", odd).code == 1
