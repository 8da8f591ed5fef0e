from typing import Any

import pytest

from safehold.config import parse
from safehold.planning import read_card
from safehold.planning.card_config import config_from
from tests.safehold.documents import make_document

SHAPE = {"layers": 4, "hidden": 256, "heads": 8, "kv_heads": 2, "vocabulary": 32_000, "sequence_length": 512,
         "gated": True, "tied": False}  # fmt: skip


def test_what_the_card_has_decided_is_taken_over() -> None:
    card = {
        "network": SHAPE,
        "data": {"tokens": 512 * 16 * 1000, "version": "v7"},
        "compute": {"devices": 4},
        "plan": {"micro_batch": 2, "accumulation": 2},
    }
    config = parse(config_from(make_document(), read_card(card), stage="sft"))
    assert {name: getattr(config.network, name) for name in SHAPE} == SHAPE
    assert (config.train.steps, config.train.global_batch, config.train.accumulation) == (
        1000,
        16,
        2,
    )
    assert (config.stage, config.data.version) == ("sft", "v7")


@pytest.mark.parametrize("network", [{}, {"layers": 96}, {"parameters": 70e9}])
def test_what_it_has_not_stays_as_it_was(network: dict[str, Any]) -> None:
    document = make_document()
    assert config_from(document, read_card({"network": network}), stage="pretrain") == document | {
        "stage": "pretrain"
    }
