from typing import Any

import pytest

from safehold.config import read_document, validate
from safehold.config.errors import STEPS
from tests.cases import CASES
from tests.safehold.documents import make_document


@pytest.mark.parametrize(
    ("changes", "path"),
    [
        ({"network__heads": 3}, "network.heads"),
        ({"network__kv_heads": 3}, "network.kv_heads"),
        ({"network__experts": 8}, "network.experts"),
        ({"network__architecture": "moe", "network__experts": 8}, "network.experts_per_token"),
        (
            {
                "network__architecture": "moe",
                "network__experts": 8,
                "network__experts_per_token": 9,
            },
            "network.experts_per_token",
        ),
        ({"data__mix": {"web": 0.5, "code": 0.4}}, "data.mix"),
        ({"train__accumulation": 3}, "train.global_batch"),
        ({"compute__devices": 16}, "train.global_batch"),
        ({"compute__devices": 4, "compute__nodes": 3}, "compute.nodes"),
        ({"optimizer__min_lr": 1e-3}, "optimizer.min_lr"),
        ({"optimizer__warmup_steps": 20}, "optimizer.warmup_steps"),
        ({"optimizer__schedule": "three_part"}, "optimizer.decay_steps"),
        ({"optimizer__decay_steps": 3}, "optimizer.decay_steps"),
        (
            {"optimizer__warmup_steps": 21, "optimizer__schedule": "constant"},
            "optimizer.warmup_steps",
        ),
        ({"checkpoint__anchor_every_steps": 21}, "checkpoint.anchor_every_steps"),
        ({"checkpoint__snapshot_every_steps": 21}, "checkpoint.snapshot_every_steps"),
        ({"train__eval_every": 21}, "train.eval_every"),
        ({"log__every": 21}, "log.every"),
    ],
)
def test_what_cannot_work_names_one_field(changes: dict[str, Any], path: str) -> None:
    assert [error.path for error in validate(make_document(**changes))] == [path]


@pytest.mark.parametrize(
    "changes",
    [
        {"data__mix": {"a": 0.333333, "b": 0.333333, "c": 0.333334}},
        {"optimizer__warmup_steps": 20, "optimizer__schedule": "constant"},
        {"optimizer__warmup_steps": 19},
        {"checkpoint__anchor_every_steps": 20},
        {"compute__devices": 4, "compute__nodes": 2, "train__accumulation": 2},
    ],
)
def test_the_edge_of_a_rule_is_inside(changes: dict[str, Any]) -> None:
    assert validate(make_document(**changes)) == []


def test_both_faults_of_a_short_run_are_told() -> None:
    """The case: total 20, warmup 200, a checkpoint every 500."""
    neutral, _ = read_document((CASES / "config/warmup_longer_than_run.yaml").read_bytes(), "yaml")
    document = make_document(
        train__steps=neutral["schedule"]["total_steps"],
        optimizer__warmup_steps=neutral["schedule"]["warmup_steps"],
        checkpoint__anchor_every_steps=neutral["checkpoint"]["every_steps"],
    )
    errors = validate(document)
    assert [error.path for error in errors] == [
        "optimizer.warmup_steps",
        "checkpoint.anchor_every_steps",
    ]
    assert {error.code for error in errors} == {STEPS}
    assert "No checkpoint would ever be written" in errors[1].message
