"""One subscription for all pages of a process: made once, handed to all, given back by the last."""

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest
from channels.layers import InMemoryChannelLayer

from runs import feeds

GROUP = "run.1"


class Layer(InMemoryChannelLayer):
    """A channel layer that counts its subscriptions."""

    def __init__(self) -> None:
        super().__init__()
        self.num_added = 0
        self.error: Exception | None = None

    async def group_add(self, group: str, channel: str) -> None:
        if self.error:
            raise self.error
        self.num_added += 1
        await super().group_add(group, channel)


@pytest.fixture
def layer(monkeypatch: pytest.MonkeyPatch) -> Layer:
    made = Layer()
    monkeypatch.setattr(feeds, "get_channel_layer", lambda: made)
    return made


class Taker:
    """A page that keeps what it is given."""

    def __init__(self) -> None:
        self.taken: list[int] = []

    def take(self, message: Mapping[str, Any]) -> None:
        self.taken.append(message["number"])


async def send(layer: Layer, number: int) -> None:
    await layer.group_send(GROUP, {"type": "run.bundle", "number": number})
    for _ in range(5):  # the feed and its layer take a turn of the loop each
        await asyncio.sleep(0)


def test_all_pages_share_one_subscription(layer: Layer) -> None:
    pages = [Taker() for _ in range(50)]

    async def story() -> None:
        await asyncio.gather(*(feeds.follow(GROUP, page.take) for page in pages))
        await send(layer, 1)

    asyncio.run(story())
    assert layer.num_added == 1
    assert all(page.taken == [1] for page in pages)


def test_who_left_is_given_nothing_and_the_last_ends_the_subscription(layer: Layer) -> None:
    first, last = Taker(), Taker()

    async def story() -> None:
        for page in (first, last):
            await feeds.follow(GROUP, page.take)
        await feeds.leave(GROUP, first.take)
        await send(layer, 1)
        await feeds.leave(GROUP, last.take)
        await feeds.leave(GROUP, last.take)
        assert GROUP not in layer.groups
        await feeds.follow(GROUP, first.take)
        await send(layer, 2)

    asyncio.run(story())
    assert (first.taken, last.taken) == ([2], [1])


def test_a_page_that_fails_costs_the_others_nothing(layer: Layer) -> None:
    page = Taker()

    def fail(message: Mapping[str, Any]) -> None:
        raise RuntimeError("a page")

    async def story() -> None:
        await feeds.follow(GROUP, fail)
        await feeds.follow(GROUP, page.take)
        await send(layer, 1)
        await send(layer, 2)

    asyncio.run(story())
    assert page.taken == [1, 2]


def test_a_broker_that_refuses_is_told_to_each_and_asked_anew(layer: Layer) -> None:
    page = Taker()

    async def story() -> None:
        layer.error = ConnectionError("refused")
        with pytest.raises(ConnectionError, match="refused"):
            await feeds.follow(GROUP, page.take)
        layer.error = None
        await feeds.follow(GROUP, page.take)
        await send(layer, 1)

    asyncio.run(story())
    assert page.taken == [1]
