"""The web server process: uvicorn with our own log format."""

import sys
from importlib import import_module

import uvicorn

from controlplane.service import importing

# A browser holds its WebSocket open for ever; a stop must not wait for it.
GRACEFUL_STOP_SECONDS = 5


def main(host: str, port: int, graceful_stop_seconds: int = GRACEFUL_STOP_SECONDS) -> None:
    """Serve until a signal comes.

    Args:
        host: The address to listen on.
        port: And its port.
        graceful_stop_seconds: How long a stop waits for what is being answered.
    """
    with importing.kept():
        application = import_module("controlplane.asgi").application
        import_module("controlplane.urls")  # the first request would wait for them
    uvicorn.run(
        application,
        host=host,
        port=port,
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=graceful_stop_seconds,
    )


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:]))
