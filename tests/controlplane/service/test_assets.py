"""The page libraries: locked, copied whole, fetched only when the lock changed."""

import json
from pathlib import Path

import pytest

from controlplane.service import assets

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout whose npm is one of ours: it writes the wanted files and counts its calls."""
    (tmp_path / "package-lock.json").write_text("{}")
    (tmp_path / "calls").write_text("")

    def fetch(root: Path) -> None:
        with (root / "calls").open("a") as calls:
            calls.write("x")
        for name in assets.VENDOR_FILES:
            (root / "node_modules" / name).parent.mkdir(parents=True, exist_ok=True)
            (root / "node_modules" / name).write_text("/* code */\n//# sourceMappingURL=x.map\n")

    monkeypatch.setattr(assets, "fetch", fetch)
    return tmp_path


def test_files_are_fetched_once_and_again_when_the_lock_changed(place: Path):
    assert assets.install(place) is True
    assert assets.install(place) is False
    (place / "package-lock.json").write_text('{"changed": true}')
    assert assets.install(place) is True
    assert (place / "calls").read_text() == "xx"


def test_copies_name_no_source_map_that_is_not_there(place: Path):
    assets.install(place)
    for name in assets.VENDOR_FILES:
        copy = place / "static/vendor" / Path(name).name
        assert "sourceMappingURL" not in copy.read_text()


def test_a_failing_npm_is_told_with_its_last_words(tmp_path: Path):
    (tmp_path / "package-lock.json").write_text("no lock")
    with pytest.raises(assets.AssetsError, match="could not be fetched") as told:
        assets.install(tmp_path)
    assert "registry" in told.value.hint
    assert not (tmp_path / "static").exists()


def test_the_lock_is_exact_and_names_no_registry():
    lock = json.loads((ROOT / "package-lock.json").read_text())
    wanted = json.loads((ROOT / "package.json").read_text())["dependencies"]
    assert all(version[0].isdigit() for version in wanted.values())
    assert all("resolved" not in package for package in lock["packages"].values())
    assert all("integrity" in p for name, p in lock["packages"].items() if name)
