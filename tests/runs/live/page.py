"""A browser's end of a WebSocket. (`channels.testing` would want daphne installed.)"""

import json
from typing import Any

from asgiref.testing import ApplicationCommunicator
from channels.routing import URLRouter
from django.contrib.auth.models import AnonymousUser

from controlplane.common.models import User
from runs.routing import websocket_urlpatterns


class Page:
    """One open socket of one person."""

    def __init__(self, path: str, user: User | AnonymousUser, session: Any = None) -> None:
        scope = {
            "type": "websocket", "path": path, "query_string": b"", "headers": [], "subprotocols": [],
            "user": user, **({"session": session} if session is not None else {}),
        }  # fmt: skip
        self.application = ApplicationCommunicator(URLRouter(websocket_urlpatterns), scope)

    async def open(self) -> "Page":
        """Connect; return the page once the server has accepted."""
        await self.application.send_input({"type": "websocket.connect"})
        answer = await self.application.receive_output(timeout=10)
        assert answer["type"] == "websocket.accept", answer
        return self

    async def output(self, seconds: float = 10) -> dict[str, Any]:
        """Return the next message of the protocol."""
        return dict(await self.application.receive_output(timeout=seconds))

    async def read(self, seconds: float = 10) -> dict[str, Any]:
        """Return the next message of the server."""
        message = await self.output(seconds)
        assert message["type"] == "websocket.send", message
        return dict(json.loads(message["text"]))

    async def write(self, text: str) -> None:
        """Send text."""
        await self.application.send_input({"type": "websocket.receive", "text": text})

    async def choose(self, *names: str) -> None:
        """Choose the metrics to hear of."""
        await self.write(json.dumps({"names": names}))

    async def close(self) -> None:
        """Leave."""
        await self.application.send_input({"type": "websocket.disconnect", "code": 1000})
        await self.application.wait(timeout=5)
