from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from safehold.outbox import Outbox


def test_the_order_is_kept_when_the_clock_is_put_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = iter([5_000, 5_000, 3_000, 1_000])
    monkeypatch.setattr(time, "time_ns", lambda: next(clock))
    outbox = Outbox(tmp_path / "outbox")
    put = [outbox.put({"step": 1}), outbox.put({"step": 2}), outbox.put({"step": 3})]
    put.append(Outbox(tmp_path / "outbox").put({"step": 4}))  # as after a restart
    assert outbox.waiting() == put


def test_a_registration_that_was_put_outlives_a_loss_of_power(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[str] = []
    monkeypatch.setattr(
        os, "fsync", lambda file: synced.append(os.readlink(f"/proc/self/fd/{file}"))
    )
    path = Outbox(tmp_path / "outbox").put({"step": 1})
    assert synced == [str(tmp_path), f"{path}.part", str(path.parent)]
