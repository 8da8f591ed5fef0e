import json
from pathlib import Path
from typing import Any

import pytest

from safehold.findings import Finding
from safehold.planning import plan_run
from safehold.preflight import Facts, run_checks
from safehold.preflight.facts import CheckpointFacts
from safehold.preflight.gathering import probe_root
from tests.cases import CASES
from tests.safehold.documents import make_config


def judge(found: CheckpointFacts, **changes: Any) -> list[Finding]:
    facts = Facts(config=make_config(**changes), checkpoint=found)
    return list(run_checks(facts, ["checkpoint"]).findings)


def test_the_case_of_a_volume_with_a_quota_blocks() -> None:
    """CONF-03: 7e9 parameters, three kept and one being written, 120 GiB free, a quota of 90 GiB."""
    case = json.loads((CASES / "config/checkpoint_space.json").read_text())
    path = case["path"]
    root = CheckpointFacts(
        "/ckpt", "/ckpt", free_bytes=path["free_bytes"], quota_bytes=path["quota_left_bytes"]
    )
    shape: dict[str, Any] = {
        "layers": 32,
        "hidden": 4096,
        "heads": 32,
        "vocabulary": 32_000,
        "sequence_length": 2048,
    }
    config = {
        "network": shape | {"ffn_multiple": 4.03},
        "checkpoint__keep_anchors": case["keep_last"],
    }
    (finding,) = judge(root, **config)
    size = plan_run(make_config(**config)).checkpoint_bytes
    assert size == pytest.approx(case["model_params"] * 14, rel=0.1)
    assert finding.severity == "fail"
    assert finding.evidence["usable_bytes"] == 96_636_764_160
    assert finding.evidence["need_bytes"] == 4 * finding.evidence["checkpoint_bytes"]
    assert "/ckpt needs" in finding.message
    assert "96,636,764,160 are usable" in finding.message


def test_room_is_enough_to_the_byte() -> None:
    need = int(plan_run(make_config()).checkpoint_room_bytes or 0)
    assert judge(CheckpointFacts("/c", "/", free_bytes=need))[0].severity == "pass"
    assert judge(CheckpointFacts("/c", "/", free_bytes=need - 1))[0].severity == "fail"


def test_a_refused_write_blocks_with_its_reason(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    (finding,) = judge(probe_root(str(tmp_path / "file" / "ckpt")))
    assert finding.severity == "fail"
    assert "failed, it is not a folder" in finding.message


def test_a_relative_root_is_told() -> None:
    severities = [one.severity for one in judge(CheckpointFacts("ckpt", "/", free_bytes=10**12))]
    assert severities == ["warn", "pass"]


def test_the_size_of_a_mixture_is_not_guessed() -> None:
    (finding,) = judge(CheckpointFacts("/c", "/", free_bytes=1), network__architecture="moe")
    assert finding.severity == "unknown"
