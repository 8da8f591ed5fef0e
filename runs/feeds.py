"""One subscription a process and group: what the broker sends once is handed to all its open pages.

With a subscription for each page, every message would be read, unpacked and waited for once a page: with fifty
viewers that took longer than all the rest of a point's way to them.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any
from weakref import WeakKeyDictionary

from channels.layers import get_channel_layer

logger = logging.getLogger(__name__)

Take = Callable[[Mapping[str, Any]], None]


class Feed:
    """The messages of one group, for as long as somebody takes them."""

    def __init__(self, group: str) -> None:
        self.takers: set[Take] = set()
        self._group = group
        self._layer = get_channel_layer()
        self._ready = asyncio.get_running_loop().create_future()
        self._task = asyncio.create_task(self._run())

    async def ready(self) -> None:
        """Wait until nothing that is sent from now on is missed; raise what the broker said instead."""
        await asyncio.shield(self._ready)

    async def end(self) -> None:
        """Give the subscription back."""
        self._task.cancel()
        with suppress(asyncio.CancelledError):
            await self._task

    async def _run(self) -> None:
        try:
            channel = await self._layer.new_channel()
            await self._layer.group_add(self._group, channel)
        except Exception as error:  # noqa: BLE001  (whoever waits is told)
            self._ready.set_exception(error)
            return
        self._ready.set_result(None)
        try:
            while True:
                self._hand_out(await self._layer.receive(channel))
        finally:
            await self._layer.group_discard(self._group, channel)

    def _hand_out(self, message: Mapping[str, Any]) -> None:
        for take in tuple(self.takers):
            try:
                take(message)
            except Exception:  # one page shall not cost the others their message
                logger.exception("feed.not_taken", extra={"group": self._group})


# By event loop: a feed lives on the one that it was made on.
_feeds: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[str, Feed]] = WeakKeyDictionary()


async def follow(group: str, take: Take) -> None:
    """Have all messages of a group handed over from now on."""
    feeds = _feeds.setdefault(asyncio.get_running_loop(), {})
    feed = feeds.get(group)
    if feed is None:
        feed = feeds[group] = Feed(group)
    feed.takers.add(take)
    try:
        await feed.ready()
    except Exception:
        await leave(group, take)
        raise


async def leave(group: str, take: Take) -> None:
    """End that; the last one to leave ends the subscription."""
    feeds = _feeds.get(asyncio.get_running_loop(), {})
    feed = feeds.get(group)
    if feed is None or take not in feed.takers:
        return
    feed.takers.discard(take)
    if not feed.takers:
        del feeds[group]
        await feed.end()
