from __future__ import annotations

import json
import stat
from pathlib import Path

import pytest

from safehold.wrapper.options import Options, parse
from safehold.wrapper.place import settle


def options(folder: Path) -> Options:
    return Options(folder=folder, command=("true",))


def test_secrets_become_private_files_and_leave_the_environment(tmp_path: Path) -> None:
    environ = {"SAFEHOLD_TOKEN": "sha_1", "SAFEHOLD_CONFIG_JSON": '{"name": "täglich"}'}
    settled = settle(options(tmp_path / "pods" / "a-0"), environ)
    assert "SAFEHOLD_TOKEN" not in environ
    assert "SAFEHOLD_CONFIG_JSON" not in environ
    token, config = Path(environ["SAFEHOLD_TOKEN_FILE"]), Path(environ["SAFEHOLD_CONFIG"])
    assert (token.read_text(), json.loads(config.read_bytes())) == ("sha_1", {"name": "täglich"})
    assert {token.parent, config.parent} == {settled.folder}
    assert [stat.S_IMODE(path.stat().st_mode) for path in (token, config)] == [0o600, 0o600]
    assert environ["SAFEHOLD_DIR"] == str(settled.folder) == str(tmp_path / "pods" / "a-0")


def test_a_launcher_that_prepared_files_keeps_them(tmp_path: Path) -> None:
    environ = {"SAFEHOLD_TOKEN_FILE": "/somewhere/token", "SAFEHOLD_CONFIG": "/somewhere/config"}
    settle(options(tmp_path), environ)
    assert environ["SAFEHOLD_TOKEN_FILE"] == "/somewhere/token"
    assert environ["SAFEHOLD_CONFIG"] == "/somewhere/config"


def test_a_folder_that_cannot_be_made_is_replaced_and_told_in_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("")
    environ: dict[str, str] = {}
    settled = settle(options(tmp_path / "file" / "a-0"), environ)
    assert settled.folder.name.startswith("safehold-a-0-")
    assert stat.S_IMODE(settled.folder.stat().st_mode) == 0o700
    assert environ["SAFEHOLD_DIR"] == str(settled.folder)
    told = capsys.readouterr().err
    assert told.count("\n") == 1
    assert "cannot be used (Not a directory)" in told


@pytest.mark.parametrize(
    ("environ", "given", "expected"),
    [
        ({}, [], 0),
        ({"JOB_COMPLETION_INDEX": "3"}, [], 3),
        ({"JOB_COMPLETION_INDEX": "3"}, ["--node-rank", "1"], 1),
    ],
)
def test_the_node_rank_is_the_completion_index_unless_told(
    environ: dict[str, str], given: list[str], expected: int
) -> None:
    common = ["--dir", "/x", "--nnodes", "4", "--rdzv-endpoint", "a:1"]
    assert parse([*common, *given, "--", "true"], environ).node_rank == expected


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (["--nnodes", "2"], "--rdzv-endpoint HOST:PORT"),
        (["--nnodes", "2", "--rdzv-endpoint", "nowhere"], "--rdzv-endpoint HOST:PORT"),
        (["--node-rank", "1"], "--node-rank 1 is none of 1 nodes"),
    ],
)
def test_a_wrong_command_line_is_told(
    given: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        parse(["--dir", "/x", *given, "--", "true"], {})
    assert message in capsys.readouterr().err
