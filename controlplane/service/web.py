"""The web server process: uvicorn with our own log format."""

import sys
from importlib import import_module

import uvicorn

from controlplane.service import importing

# A browser holds its WebSocket open for ever; a stop must not wait for it.
GRACEFUL_STOP_SECONDS = 5


def main(host: str, port: int) -> None:
    """Serve until a signal comes."""
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
        timeout_graceful_shutdown=GRACEFUL_STOP_SECONDS,
    )


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
