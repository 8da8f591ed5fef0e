"""Messages as they were first sent: every later version has to read them."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np

from safehold import wire

SAMPLES = Path(__file__).parents[1] / "samples"
JOURNAL = "0123456789abcdef" * 2


def test_the_stored_batch_is_read() -> None:
    batch = wire.decode((SAMPLES / "batch_v1.msgpack").read_bytes())
    assert (batch.rank, batch.journal, batch.first_seq, batch.last_seq) == (3, JOURNAL, 41, 43)
    assert batch.steps.tolist() == [100, 101, 101]
    assert batch.tokens.tolist() == [51200, 51712, -1]
    assert batch.times.tolist() == [1764000000000, 1764000000100, 1764000000200]
    loss, chinese = batch.columns
    assert (loss.name, loss.index) == ("train/loss", None)
    assert loss.values.tobytes() == np.array([2.5, math.nan, math.inf]).tobytes()
    assert chinese.name == "损失/训练"
    assert chinese.index is not None
    assert chinese.index.tolist() == [0, 2]
    assert chinese.values.tobytes() == np.array([-0.0, 1e-300]).tobytes()
    assert batch.events == (
        wire.Event(1, "eval", {"name": "hellaswag", "split": "validation", "value": 0.25}),
        wire.Event(2, "lifecycle", {"what": "paused"}),
    )
    assert batch.heartbeat == wire.Heartbeat(1764000000300, 101, 51712, "training")
    assert batch.applied == (
        wire.Applied(7, "applied", ""),
        wire.Applied("c-8", "refused", "no checkpointer"),
    )


def test_the_stored_heartbeat_is_read() -> None:
    batch = wire.decode((SAMPLES / "heartbeat_v1.msgpack").read_bytes())
    assert (batch.n, batch.first_seq) == (0, 1)
    assert batch.heartbeat == wire.Heartbeat(1764000000300, -1, -1, "starting")


def test_the_stored_points_are_read() -> None:
    batch = wire.decode((SAMPLES / "points_v1.json").read_bytes(), wire.CONTENT_JSON)
    assert batch.steps.tolist() == [9007199254740993, 3, 3, -1, -1]
    assert batch.tokens.tolist() == [512, -1, -1, -1, -1]
    assert batch.times.tolist()[:3] == [1764000000000, 1764000000001, 0]
    assert [r.i for r in batch.refused] == [3, 4]
    assert batch.num_points == 3


def test_the_stored_acknowledgements_are_read() -> None:
    packed = wire.decode_ack((SAMPLES / "ack_v1.msgpack").read_bytes())
    text = wire.decode_ack((SAMPLES / "ack_v1.json").read_bytes(), wire.CONTENT_JSON)
    assert packed == text
    assert packed.commands[1] == wire.Command("c-10", "save_and_stop", {"reason": "by hand"})
