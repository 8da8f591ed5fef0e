from typing import Any

import pytest

from safehold.config import canonical_document, parse
from safehold.planning import parse_card
from safehold.planning.pilot_config import config_for
from safehold.planning.pilots import pilot_of
from tests.safehold.documents import make_config

CARD = parse_card(
    {
        "network": {"layers": 8, "hidden": 512, "heads": 8, "vocabulary": 1000, "sequence_length": 64},
        "data": {"tokens": 512 * 64 * 20_000},
        "compute": {"devices": 64},
    }
)  # fmt: skip


def document(**changes: Any) -> dict[str, Any]:
    large = {
        "network__layers": 8, "network__hidden": 512, "network__heads": 8, "train__steps": 20_000,
        "train__global_batch": 512, "train__eval_every": 500, "optimizer__warmup_steps": 2000, "compute__devices": 64,
        "compute__nodes": 8, "checkpoint__anchor_every_steps": 1000, "checkpoint__snapshot_every_steps": 50,
    }  # fmt: skip
    return dict(canonical_document(make_config(**large | changes)))


def test_the_pilot_keeps_every_share_of_the_run() -> None:
    found = parse(config_for(document(), pilot_of(CARD), name="pilot"))
    assert (found.name, found.train.steps, found.train.global_batch) == ("pilot", 200, 512)
    assert (found.optimizer.warmup_steps, found.train.eval_every) == (20, 5)
    assert (found.checkpoint.anchor_every_steps, found.checkpoint.snapshot_every_steps) == (10, 1)
    assert (found.compute.devices, found.compute.nodes) == (8, 1)
    assert (found.network.layers, found.network.hidden) != (8, 512)
    assert found.network.vocabulary == 1000


def test_what_is_not_about_size_stays_as_it_was() -> None:
    large = document(optimizer__lr=1e-4, train__seed=7)
    found = config_for(large, pilot_of(CARD), name="pilot")
    assert found["data"] == large["data"]
    assert found["tokenizer"] == large["tokenizer"]
    assert (found["optimizer"]["lr"], found["train"]["seed"]) == (1e-4, 7)


def test_a_production_config_has_a_pilot_for_an_experiment() -> None:
    assert config_for(document(kind="production"), pilot_of(CARD), name="p")["kind"] == "experiment"


def test_a_card_without_a_shape_shrinks_the_network_of_the_config() -> None:
    small = pilot_of(parse_card({"data": {"tokens": 512 * 64 * 20_000}}))
    found = parse(config_for(document(), small, name="pilot"))
    assert found.network.layers * found.network.hidden**2 < 8 * 512**2 / 5


@pytest.mark.parametrize("steps", [1, 2, 150])
def test_short_runs_stay_sound(steps: int) -> None:
    card = parse_card({"data": {"tokens": 512 * 64 * steps * 100}, "compute": {"devices": 3}})
    large = document(
        optimizer__schedule="three_part", optimizer__decay_steps=4000, train__global_batch=512
    )
    found = parse(config_for(large, pilot_of(card), name="pilot"))
    assert found.train.steps in {steps, max(1, 512 * steps // found.train.global_batch)}
    assert found.train.global_batch % found.compute.devices == 0
