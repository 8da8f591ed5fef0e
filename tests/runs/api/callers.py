"""One person's calls."""

import json
from collections.abc import Collection
from typing import Any

from django.test import Client

from controlplane.common import tokens
from controlplane.common.models import User


class Api:
    """Calls the API as one person."""

    def __init__(self, user: User, scopes: Collection[str] | None = None) -> None:
        self.user = user
        _, self.token = tokens.issue_personal(user=user, name="test", scopes=scopes)
        self.client = Client(
            headers={"Authorization": f"Bearer {self.token}"}, raise_request_exception=False
        )

    def get(self, path: str, **params: Any) -> Any:
        return self.client.get(f"/api/v1/{path}", params)

    def post(self, path: str, body: Any = None, **headers: str) -> Any:
        return self._send("post", path, {} if body is None else body, headers)

    def patch(self, path: str, body: Any, **headers: str) -> Any:
        return self._send("patch", path, body, headers)

    def _send(self, method: str, path: str, body: Any, headers: dict[str, str]) -> Any:
        content = body if isinstance(body, str | bytes) else json.dumps(body)
        names = {name.replace("_", "-"): value for name, value in headers.items()}
        return getattr(self.client, method)(
            f"/api/v1/{path}", content, content_type="application/json", headers=names
        )
