"""The web server process: uvicorn with our own log format."""

import sys

import uvicorn

# A browser holds its WebSocket open for ever; a stop must not wait for it.
GRACEFUL_STOP_SECONDS = 5


def main(host: str, port: int) -> None:
    """Serve until a signal comes."""
    uvicorn.run(
        "controlplane.asgi:application",
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
