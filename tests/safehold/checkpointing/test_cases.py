"""Checkpoints from the field: each is judged right, in bounded time, and none runs code."""

import shutil
import struct
import tarfile
from pathlib import Path

import pytest

from safehold.checkpointing.verification import verify
from tests.safehold.checkpointing.training import Training, step_folder

CASES = Path(__file__).parents[2] / "cases" / "checkpoints"


def failed(path: Path) -> dict[str, str]:
    return {item.code: item.message for item in verify(path).findings if item.severity == "fail"}


@pytest.fixture(autouse=True)
def nothing_was_unpickled(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    yield
    assert not list(tmp_path.rglob("UNPICKLED.marker"))
    assert not list(CASES.rglob("UNPICKLED.marker"))


@pytest.mark.parametrize("name", ["good_step_200", "dcp_good", "safetensors/good.safetensors"])
def test_sound_ones_pass(name):
    result = verify(CASES / name)
    assert result.verdict == "pass", result.reasons
    assert result.num_tensors > 0
    assert set(result.digests) == set(result.digests.keys())


def test_truncated_file_is_named_with_both_sizes():
    message = failed(CASES / "truncated_optimizer")["CKPT-5.size"]
    assert message == "optimizer.pt has 3,570 bytes, the manifest says 5,951."


def test_folder_without_manifest_is_damaged_with_a_readable_message():
    found = failed(CASES / "truncated_no_manifest")
    assert "does not exist" in found["CKPT-5.manifest"]
    assert "cut short or damaged" in found["CKPT-5.readable"]


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("header_longer_than_file", "its header claims 5000 bytes"),
        ("header_length_near_2_64", "its header claims 18446744073709551608 bytes"),
        ("shape_larger_than_data", "needs 4000000 bytes, its offsets give 16"),
        ("data_cut_short", "it was cut short"),
        ("header_not_json", "not valid JSON"),
    ],
)
def test_bad_header_is_refused_for_its_own_reason(name, reason):
    assert reason in failed(CASES / "safetensors" / f"{name}.safetensors")["CKPT-5.readable"]


@pytest.mark.parametrize("name", ["optimizer_runs_command.pt", "plain_pickle.ckpt"])
def test_pickle_that_calls_a_command_is_refused_by_name(name):
    assert "posix.system (os.system)" in failed(CASES / "pickle" / name)["CKPT-5.readable"]


@pytest.mark.parametrize("name", ["optimizer_missing", "optimizer_missing_manifest_agrees"])
def test_missing_component_is_named(name):
    assert "The optimizer is missing" in failed(CASES / name)["CKPT-5.components"]


def test_missing_shard_is_named():
    assert failed(CASES / "dcp_shard_missing") == {
        "CKPT-5.files": "__1_0.distcp is named by the metadata and is not there."
    }


def test_weights_that_are_not_finite_are_counted():
    bad = [f.evidence for f in verify(CASES / "nan_weights").findings if f.severity == "fail"]
    assert [(e["tensor"], e["num_nan"], e["num_infinite"]) for e in bad] == [
        ("block.0.attn.q.weight", 1, 0),
        ("norm.weight", 0, 1),
    ]


def test_manifest_that_climbs_out_is_refused_by_name():
    result = verify(CASES / "manifest_climbs_out")
    assert "'../../outside.bin'" in result.reasons[0]
    assert result.digests == {}


def test_archive_with_links_is_refused_by_name_and_never_unpacked(tmp_path):
    message = failed(CASES / "archives" / "symlink_to_outside.tar")["CKPT-5.links"]
    assert "step_1/optimizer.pt -> ../../../../etc/hostname" in message
    assert "step_1/all -> /" in message
    assert not list(tmp_path.iterdir())


def test_link_that_appears_later_is_not_followed(tmp_path):
    folder = tmp_path / "checkpoint"
    shutil.copytree(CASES / "good_step_200", folder)
    secret = tmp_path / "secret"
    shutil.copy(folder / "optimizer.pt", secret)
    (folder / "optimizer.pt").unlink()
    (folder / "optimizer.pt").symlink_to(secret)
    result = verify(folder)
    assert "optimizer.pt" in " ".join(result.reasons)
    assert "optimizer.pt" not in result.digests


@pytest.fixture
def ours(tmp_path):
    training = Training(tmp_path)
    training.steps(3)
    training.checkpointer.save(3)
    return step_folder(tmp_path, 3)


@pytest.mark.parametrize(
    "name",
    ["model.safetensors", "optimizer.safetensors", "optimizer.json", "scheduler.json", "manifest.json",
     "rng-00000.json", "sampler-00000.json"],
)  # fmt: skip
def test_our_own_is_refused_when_a_file_is_cut_changed_or_gone(ours, name):
    content = (ours / name).read_bytes()
    middle = len(content) // 2
    for damaged in (
        content[:middle],
        content[:middle] + b"\x00" + content[middle + 1 :],
        content + b" ",
    ):
        (ours / name).write_bytes(damaged)
        # White space after the manifest's end changes nothing that it says.
        assert (verify(ours).verdict == "fail") or (
            name == "manifest.json" and damaged.endswith(b" ")
        )
    (ours / name).unlink()
    assert verify(ours).verdict == "fail"


def test_parts_of_two_steps_are_told_apart(ours, tmp_path):
    training = Training(tmp_path / "other")
    training.steps(4)
    training.checkpointer.save(4)
    shutil.copy(step_folder(tmp_path / "other", 4) / "scheduler.json", ours)
    assert "scheduler.json is of step 4" in failed(ours)["CKPT-5.same_step"]


def test_one_state_of_randomness_for_all_ranks_is_flagged(ours):
    import json

    manifest = json.loads((ours / "manifest.json").read_text())
    manifest["world"] = {
        "size": 4,
        "rng": [manifest["world"]["rng"][0], "1" * 64, "2" * 64, "3" * 64],
    }
    entry = next(item for item in manifest["files"] if item["path"] == "rng-00000.json")
    for rank in range(1, 4):
        name = f"rng-0000{rank}.json"
        shutil.copy(ours / "rng-00000.json", ours / name)
        manifest["files"].append({**entry, "path": name})
        manifest["components"]["rng"]["files"].append(name)
    (ours / "manifest.json").write_text(json.dumps(manifest))
    messages = [f.message for f in verify(ours).findings if f.code == "CKPT-5.rng_per_rank"]
    assert messages == [
        f"Rank {rank} was saved with another random state than it had." for rank in (1, 2, 3)
    ]


def test_tar_bomb_of_names_is_only_listed(tmp_path):
    path = tmp_path / "good.tar"
    with tarfile.open(path, "w") as archive:
        archive.add(CASES / "good_step_200", "step_200")
    assert "is an archive" in failed(path)["CKPT-5.manifest"]


def test_header_with_overlapping_tensors_is_refused(tmp_path):
    header = (
        b'{"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]},'
        b'"b":{"dtype":"U8","shape":[4],"data_offsets":[2,6]}}'
    )
    path = tmp_path / "x.safetensors"
    path.write_bytes(struct.pack("<Q", len(header)) + header + bytes(6))
    assert "tensor 'b' overlaps another" in failed(path)["CKPT-5.readable"]
