from typing import Any

import pytest

from safehold.config import ConfigInvalid, parse, validate
from tests.safehold.documents import make_document


def faults(**changes: Any) -> dict[str, str]:
    return {
        error.path: f"{error.message} {error.hint}".strip()
        for error in validate(make_document(**changes))
    }


def test_a_sound_document_is_read() -> None:
    assert parse(make_document()).optimizer.lr == 3e-4


def test_defaults_are_filled_in() -> None:
    config = parse(make_document())
    assert (config.train.precision, config.optimizer.betas, config.checkpoint.keep_anchors) == (
        "bf16",
        (0.9, 0.95),
        3,
    )


def test_a_whole_number_is_a_float_where_one_is_meant() -> None:
    clip = parse(make_document(optimizer__clip=1)).optimizer.clip
    assert isinstance(clip, float)


@pytest.mark.parametrize(
    ("changes", "path", "words"),
    [
        ({"optimizer__lr": "3e-4"}, "optimizer.lr", "Write it without quotes"),
        ({"optimizer__lr": True}, "optimizer.lr", "valid number"),
        ({"optimizer__lr": float("nan")}, "optimizer.lr", "finite"),
        ({"optimizer__lr": float("inf")}, "optimizer.lr", "finite"),
        ({"optimizer__lr": 0}, "optimizer.lr", "greater than 0"),
        ({"optimizer__clip": 0}, "optimizer.clip", "greater than 0"),
        ({"optimizer__betas": [0.9, 1]}, "optimizer.betas.1", "less than 1"),
        ({"optimizer__betas": [0.9]}, "optimizer.betas.1", "missing"),
        ({"train__steps": 20.0}, "train.steps", "whole number"),
        ({"train__steps": 0}, "train.steps", "greater than or equal to 1"),
        ({"train__steps": -1}, "train.steps", "greater than or equal to 1"),
        ({"train__steps": "20"}, "train.steps", "Write it without quotes"),
        ({"optimizer__warmup_steps": 1.5}, "optimizer.warmup_steps", "whole number"),
        ({"optimizer__learning_rate": 1}, "optimizer.learning_rate", "no such field"),
        ({"optimizer__lrr": 1}, "optimizer.lrr", "Did you mean optimizer.lr?"),
        ({"optimiser__lr": 1}, "optimiser", "Did you mean optimizer?"),
        ({"optimizer__lr": ...}, "optimizer.lr", "missing"),
        ({"data__mix": {"web": 0.5, "code": -0.5}}, "data.mix.code", "greater than 0"),
        ({"tokenizer__digest": "abc"}, "tokenizer.digest", "pattern"),
        ({"name": "a\0b"}, "name", "control character U+0000"),
        ({"name": "a\ud83d"}, "name", "surrogate"),
        ({"name": ""}, "name", "at least 1"),
        ({"schema_version": 2}, "schema_version", "1"),
        ({"code__command": "python train.py"}, "code.command", "a list"),
        ({"network": 3}, "network", "a table"),
    ],
)  # fmt: skip
def test_a_fault_is_named_by_its_field(changes: dict[str, Any], path: str, words: str) -> None:
    found = faults(**changes)
    assert words in found[path]


def test_every_fault_is_told_at_once() -> None:
    assert faults(optimizer__lr="x", train__steps=0, network__heads=...).keys() == {
        "optimizer.lr", "train.steps", "network.heads",
    }  # fmt: skip


def test_the_error_is_one_sentence_for_a_log() -> None:
    with pytest.raises(
        ConfigInvalid, match=r"optimizer\.lr: It should be greater than 0; it is -1"
    ):
        parse(make_document(optimizer__lr=-1))


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ({"name": "x" * 300}, "It should have at most 200 characters; it is 'xxx"),
        ({"name": ""}, "It should have at least 1 character; it is ''."),
    ],
)
def test_a_text_is_told_its_length_in_characters(document: dict[str, Any], message: str) -> None:
    (fault,) = (one for one in validate(document) if one.path == "name")
    assert fault.message.startswith(message)
