import subprocess
from pathlib import Path

from safehold.code_state import of_this_program, state_of


def git(place: Path, *words: str) -> None:
    who = ["-c", "user.name=x", "-c", "user.email=x@example.org", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", "-C", str(place), *who, *words], check=True, capture_output=True)


def test_a_commit_and_what_was_changed_since(tmp_path: Path) -> None:
    git(tmp_path, "init")
    (tmp_path / "train.py").write_text("one = 1\n")
    git(tmp_path, "add", "train.py")
    git(tmp_path, "commit", "-m", "one")
    clean = state_of(tmp_path)
    assert len(clean["commit"]) == 40
    assert "dirty" not in clean
    (tmp_path / "train.py").write_text("one = 2\n")
    first = state_of(tmp_path)
    assert first["commit"] == clean["commit"]
    assert first["dirty"].startswith("blake3:")
    (tmp_path / "train.py").write_text("one = 3\n")
    assert state_of(tmp_path)["dirty"] != first["dirty"]


def test_outside_a_repository_nothing_is_said(tmp_path: Path) -> None:
    assert state_of(tmp_path) == {}
    assert state_of(tmp_path / "gone") == {}
    assert isinstance(of_this_program(), dict)
