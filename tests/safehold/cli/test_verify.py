import pytest

from tests.safehold.cli.conftest import Command

pytest.importorskip("torch")


def test_a_missing_manifest_blocks(safehold: Command, tmp_path: object) -> None:
    ran = safehold("verify", tmp_path, "--json")
    assert ran.code == 1
    assert ran.document["verdict"] == "fail"
    assert ran.document["path"] == str(tmp_path)
    assert any(one["code"] == "CKPT-5.manifest" for one in ran.document["findings"])
