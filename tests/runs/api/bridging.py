"""The command line and the client against the API itself, without a network between them."""

import httpx

from safehold.api_client import ApiClient
from tests.runs.api.callers import Api


class Bridge(httpx.BaseTransport):
    """Hands each request of httpx to Django's test client."""

    def __init__(self, api: Api) -> None:
        self.api = api

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        headers = {
            name: value for name, value in request.headers.items() if name != "content-length"
        }
        answer = self.api.client.generic(
            request.method, request.url.raw_path.decode(), request.read(),
            content_type=headers.pop("content-type", ""), headers=headers,
        )  # fmt: skip
        return httpx.Response(
            answer.status_code, headers=dict(answer.items()), content=answer.getvalue()
        )


def client_of(api: Api) -> ApiClient:
    """Return a client that acts as this person."""
    return ApiClient("http://testserver", api.token, transport=Bridge(api))
