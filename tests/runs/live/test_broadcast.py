"""The thread that sends: paced, bounded, deaf to a broker that fails."""

import asyncio
import logging
import time
from typing import Any

import pytest

from runs import broadcast
from runs.broadcast import Broadcaster
from runs.bundles import Note
from tests.waiting import wait_until


class Layer:
    """A channel layer that keeps what was sent, fails, or hangs."""

    def __init__(self) -> None:
        self.sent: list[tuple[float, str, dict[str, Any]]] = []
        self.error: Exception | None = None
        self.hangs = False

    async def group_send(self, group: str, message: dict[str, Any]) -> None:
        if self.hangs:
            await asyncio.sleep(3600)
        if self.error:
            raise self.error
        self.sent.append((time.monotonic(), group, message))


@pytest.fixture
def layer(monkeypatch: pytest.MonkeyPatch) -> Layer:
    made = Layer()
    monkeypatch.setattr(broadcast, "get_channel_layer", lambda: made)
    return made


def put(sender: Broadcaster, number: int, group: str = "run.1") -> None:
    sender.put(group, "run.bundle", Note("event", {"id": number}), 0.1)


def ids(layer: Layer) -> list[int]:
    return [item[1]["id"] for _, _, message in layer.sent for item in message["items"]]


def test_a_burst_of_500_becomes_a_few_sends_and_loses_nothing(layer: Layer) -> None:
    sender, begun = Broadcaster(), time.monotonic()
    for number in range(500):
        put(sender, number)
        time.sleep(0.002)
    spent = time.monotonic() - begun
    wait_until(
        lambda: len(ids(layer)) >= 500 or any(m["is_cut"] for _, _, m in layer.sent), 10, "no end"
    )
    assert ids(layer) == list(range(500))
    assert len(layer.sent) <= spent * 10 + 2


def test_the_first_note_after_a_pause_goes_at_once(layer: Layer) -> None:
    sender = Broadcaster()
    put(sender, 0)
    wait_until(lambda: bool(layer.sent), 5, "nothing was sent")
    begun = time.monotonic()
    wait_until(lambda: time.monotonic() > begun + 0.15, 5, "")
    put(sender, 1)
    wait_until(lambda: len(layer.sent) == 2, 5, "the second was not sent")
    assert layer.sent[1][0] - begun < 1.0


def test_groups_do_not_wait_for_each_other(layer: Layer) -> None:
    sender = Broadcaster()
    for number in range(20):
        put(sender, number, group=f"run.{number}")
    wait_until(lambda: len(layer.sent) == 20, 5, "some were not sent")
    assert {group for _, group, _ in layer.sent} == {f"run.{number}" for number in range(20)}


def test_a_broker_that_fails_is_told_once_with_a_count(
    layer: Layer, caplog: pytest.LogCaptureFixture
) -> None:
    layer.error, sender = ConnectionError("refused"), Broadcaster()
    with caplog.at_level(logging.WARNING, "runs.broadcast"):
        for number in range(5):
            put(sender, number, group=f"run.{number}")
        wait_until(lambda: bool(caplog.records), 5, "nothing was told")
        layer.error = None
        put(sender, 9, group="run.9")
        wait_until(lambda: bool(layer.sent), 5, "it did not go on")
    assert [record.message for record in caplog.records] == ["live.lost"]


def test_a_broker_that_hangs_holds_no_writer_up(
    layer: Layer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(broadcast, "SEND_TIMEOUT_SECONDS", 0.2)
    layer.hangs, sender = True, Broadcaster()
    begun = time.monotonic()
    for number in range(5000):
        put(sender, number)
    assert time.monotonic() - begun < 2
    layer.hangs = False
    wait_until(lambda: bool(layer.sent), 10, "it did not go on")
