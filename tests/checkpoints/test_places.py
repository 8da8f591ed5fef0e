from pathlib import Path

import pytest

from checkpoints import places
from controlplane.common.errors import Invalid


def inside(path: object, root: Path) -> str:
    return places.inside_attempt(path, root=root, run_id=7, number=2)


def test_a_folder_of_the_attempt_is_taken_whether_it_can_be_seen_or_not(tmp_path: Path):
    wanted = tmp_path / "run-7" / "a2" / "step-100"
    assert inside(str(wanted), tmp_path) == str(wanted)
    wanted.mkdir(parents=True)
    assert inside(str(wanted), tmp_path) == str(wanted)


def test_the_root_itself_may_be_a_link(tmp_path: Path):
    (tmp_path / "volume").mkdir()
    (tmp_path / "root").symlink_to(tmp_path / "volume")
    path = inside(f"{tmp_path}/root/run-7/a2/step-1", tmp_path / "root")
    assert path == str(tmp_path / "volume/run-7/a2/step-1")


@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("{root}/run-7/a1/step-1", "saves only below"),
        ("{root}/run-7/a20/step-1", "saves only below"),
        ("{root}/run-7/a2", "saves only below"),
        ("{root}/run-77/a2/step-1", "saves only below"),
        ("/etc", "saves only below"),
        ("{root}/run-7/a2/../a1/step-1", "climbs"),
        ("run-7/a2/step-1", "not absolute"),
        ("{root}/run-7/a2/step\0-1", "control character"),
        ("{root}/run-7/a2/\ud800", "control character"),
        ("{root}/run-7/a2/" + "x" * 2000, "longer than"),
        ("", "must be text"),
        (7, "must be text"),
        (None, "must be text"),
    ],
)
def test_a_path_elsewhere_is_refused_with_the_reason(path: object, why: str, tmp_path: Path):
    given = path.format(root=tmp_path) if isinstance(path, str) else path
    with pytest.raises(Invalid, match=why) as refusal:
        inside(given, tmp_path)
    assert list(refusal.value.fields) == ["path"]


@pytest.mark.parametrize("link", ["run-7", "run-7/a2", "run-7/a2/step-1"])
def test_a_link_on_the_way_out_is_refused(link: str, tmp_path: Path):
    (tmp_path / "root").mkdir()
    outside = tmp_path / "outside"
    (outside / "a2" / "step-1").mkdir(parents=True)
    place = tmp_path / "root" / link
    place.parent.mkdir(parents=True, exist_ok=True)
    place.symlink_to(outside)
    with pytest.raises(Invalid, match="leads to"):
        inside(f"{tmp_path}/root/run-7/a2/step-1", tmp_path / "root")


@pytest.mark.parametrize(
    "value", ["\0", "\ud800", float("nan"), float("inf"), {"deep": ["a\0b"]}, {"x\0": 1}]
)
def test_what_the_database_cannot_hold_is_refused(value: object):
    with pytest.raises(Invalid, match="manifest"):
        places.storable({"field": value})


def test_an_ordinary_document_with_a_written_backslash_is_stored():
    document = {"text": "\\u0000 is only text here: ünïcode"}
    assert places.storable(document) == document
