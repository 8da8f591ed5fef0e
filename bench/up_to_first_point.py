"""How long a new user waits: from `make up` on a fresh clone to the first live point of the demo.

    python -m bench.up_to_first_point [--keep DIR]

Cold is a clone with nothing installed (the package caches of pip and npm are as they are); warm is
the next `make up` there, after `.safehold` was removed. The target: under 180 s cold on 2 cores.
"""

import argparse
import json
import os
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path

import httpx

from tests.live_service import free_port

ROOT = Path(__file__).parent.parent
LIMIT_SECONDS = 900


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--keep", type=Path, help="clone here and leave it")
    options = parser.parse_args()
    place = options.keep or Path(tempfile.mkdtemp(prefix="safehold-up-"))
    clone = place / "safehold"
    subprocess.run(["git", "clone", "--quiet", str(ROOT), str(clone)], check=True)
    try:
        for kind in ("cold", "warm"):
            shutil.rmtree(clone / ".safehold", ignore_errors=True)
            print(json.dumps({"start": kind} | measure(clone)), flush=True)
    finally:
        if options.keep is None:
            shutil.rmtree(place, ignore_errors=True)


def measure(clone: Path) -> dict[str, float]:
    """Run `make up` in the clone; return the seconds until sign-in works and the first point is there."""
    port = free_port()
    began = time.monotonic()
    up = subprocess.Popen(["make", "up"], cwd=clone, env=environment(port), start_new_session=True)
    try:
        ready = wait(up, lambda: is_ready(port), began)
        first = wait(up, lambda: has_point(port, clone / ".safehold" / "token"), began)
    finally:
        os.killpg(up.pid, signal.SIGINT)
        up.wait()
    return {"ready_seconds": round(ready, 1), "first_point_seconds": round(first, 1)}


def environment(port: int) -> dict[str, str]:
    """Return an environment without what belongs to this checkout."""
    ours = ("SAFEHOLD_", "DATABASE_URL", "REDIS_URL", "DJANGO_", "VIRTUAL_ENV")
    return {k: v for k, v in os.environ.items() if not k.startswith(ours)} | {"PORT": str(port)}


def wait(up: subprocess.Popen[bytes], condition, began: float) -> float:
    """Return the seconds since `began` at which the condition held."""
    while not condition():
        if up.poll() is not None:
            raise SystemExit(f"`make up` ended with {up.returncode}.")
        if time.monotonic() - began > LIMIT_SECONDS:
            raise SystemExit(f"Not within {LIMIT_SECONDS} s.")
        time.sleep(0.1)
    return time.monotonic() - began


def is_ready(port: int) -> bool:
    return get(port, "/readyz", "") is not None


def has_point(port: int, token: Path) -> bool:
    """Return whether the chart of the demo's loss has a point, through the API."""
    secret = token.read_text().strip()
    runs = get(port, "/api/v1/runs", secret) or {"items": []}
    if not runs["items"] or runs["items"][0]["step"] is None:
        return False
    chart = get(port, f"/api/v1/runs/{runs['items'][0]['id']}/metrics?names=train/loss", secret)
    return chart is not None and '"train/loss"' in json.dumps(chart)


def get(port: int, path: str, token: str) -> dict | None:
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    try:
        answer = httpx.get(f"http://127.0.0.1:{port}{path}", headers=headers, timeout=5)
    except httpx.TransportError:
        return None
    return answer.json() if answer.status_code == 200 else None


if __name__ == "__main__":
    main()
