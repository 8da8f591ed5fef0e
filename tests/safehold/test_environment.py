from __future__ import annotations

import json
from pathlib import Path

import pytest

from safehold import environment
from safehold.config import config_hash


def test_everything_a_launcher_tells_is_read(tmp_path: Path) -> None:
    (tmp_path / "token").write_text("secret\n")
    (tmp_path / "config.json").write_text(json.dumps({"optimizer": {"clip": 0.5}}))
    found = environment.read(
        {
            "SAFEHOLD_URL": "http://127.0.0.1:8000/",
            "SAFEHOLD_TOKEN_FILE": str(tmp_path / "token"),
            "SAFEHOLD_CONFIG": str(tmp_path / "config.json"),
            "SAFEHOLD_DIR": str(tmp_path),
            "SAFEHOLD_ATTEMPT": "3",
            "SAFEHOLD_RESUME_FROM": "/c/step-5",
            "SAFEHOLD_FORK": "1",
            "SAFEHOLD_WEIGHTS_FROM": "/c/step-9",
            "RANK": "2",
            "WORLD_SIZE": "4",
        }
    )
    assert (found.url, found.token, found.online) == ("http://127.0.0.1:8000", "secret", True)
    assert "secret" not in repr(found)
    assert found.setting("optimizer", "clip") == 0.5
    assert found.setting("nothing", "there", 7) == 7
    assert (found.rank, found.world_size, found.attempt, found.fork) == (2, 4, 3, True)
    assert found.resume_from == Path("/c/step-5")
    assert found.weights_from == Path("/c/step-9")


def test_without_a_server_it_is_offline_in_a_folder_here() -> None:
    found = environment.read({})
    assert not found.online
    assert found.folder.parent == Path.cwd() / ".safehold"


@pytest.mark.parametrize(
    ("environ", "message"),
    [
        ({"RANK": "two"}, "RANK=two: must be a number"),
        ({"RANK": "1.5"}, "RANK=1.5: must be a whole number"),
        ({"SAFEHOLD_GRACE_SECONDS": "-1"}, "SAFEHOLD_GRACE_SECONDS=-1: must be at least 0"),
        ({"SAFEHOLD_CONFIG": "/no/such"}, "SAFEHOLD_CONFIG=/no/such: cannot be read as JSON"),
    ],
)
def test_a_value_that_makes_no_sense_is_named(environ: dict[str, str], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        environment.read(environ)


def test_a_config_that_is_not_the_one_that_was_launched_is_refused(tmp_path: Path) -> None:
    document = {"optimizer": {"clip": 0.5}}
    path = tmp_path / "config.json"
    path.write_text(json.dumps(document))
    told = {"SAFEHOLD_CONFIG": str(path), "SAFEHOLD_DIR": str(tmp_path)}
    launched = told | {"SAFEHOLD_CONFIG_HASH": config_hash(document)}
    assert environment.read(launched).config == document
    path.write_text(json.dumps({"optimizer": {"clip": 9.5}}))
    with pytest.raises(ValueError, match="launch the run again"):
        environment.read(launched)
    assert environment.read(told).setting("optimizer", "clip") == 9.5
