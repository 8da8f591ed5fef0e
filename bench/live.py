"""How long a point takes from the trainer's request to the browsers' sockets, and what 50 viewers cost.

    python -m bench.live [--viewers 50] [--seconds 15] [--per-second 20]

A trainer posts a batch of one step every 1/per-second; every viewer holds a WebSocket and notes when the step arrives.
Prints JSON: p50 and p99 over all viewers and steps in milliseconds, reloads counted as losses.
"""

import argparse
import asyncio
import json
import time
from typing import Any

import httpx
import numpy as np
import websockets

from bench import service
from safehold import wire

PORT = 18432
URL = f"http://127.0.0.1:{PORT}"


async def view(run_id: int, cookie: str, seen: dict[int, list[float]], lost: list[int]) -> None:
    """Follow one run as a page does."""
    headers = {"Cookie": cookie, "Origin": URL}
    address = f"ws://127.0.0.1:{PORT}/ws/runs/{run_id}/"
    async with websockets.connect(address, additional_headers=headers) as page:
        await page.send(json.dumps({"names": ["train/loss"]}))
        async for text in page:
            now, message = time.perf_counter(), json.loads(text)
            if message["kind"] == "reload":
                lost.append(1)
            for part in message.get("parts", ()):
                for step in part["steps"]:
                    seen.setdefault(step, []).append(now)


async def train(args: argparse.Namespace, token: str) -> dict[int, float]:
    """Post one step after the other and return when each was logged."""
    sent = {}
    headers = {"Authorization": f"Bearer {token}", "Content-Type": wire.CONTENT_MSGPACK}
    async with httpx.AsyncClient(base_url=URL, headers=headers) as client:
        for step in range(1, int(args.seconds * args.per_second) + 1):
            array = np.array([step], dtype=np.int64)
            columns = tuple(wire.Column(f"m{i}", None, np.array([1.0])) for i in range(9))
            columns += (wire.Column("train/loss", None, np.array([2.0])),)
            batch = wire.Batch(
                rank=0,
                journal="3" * 32,
                first_seq=step,
                steps=array,
                tokens=array,
                times=array,
                columns=columns,
            )
            sent[step] = time.perf_counter()
            response = await client.post("/api/v1/ingest", content=wire.encode(batch))
            response.raise_for_status()
            await asyncio.sleep(max(0.0, sent[step] + 1 / args.per_second - time.perf_counter()))
    return sent


async def story(args: argparse.Namespace, run_id: int, cookie: str, token: str) -> dict[str, Any]:
    """Open the pages, train, and count."""
    seen: dict[int, list[float]] = {}
    lost: list[int] = []
    pages = [asyncio.create_task(view(run_id, cookie, seen, lost)) for _ in range(args.viewers)]
    await asyncio.sleep(3)
    sent = await train(args, token)
    await asyncio.sleep(1)
    for page in pages:
        page.cancel()
    await asyncio.gather(*pages, return_exceptions=True)
    late = np.array([(at - sent[step]) * 1000 for step, times in seen.items() for at in times])
    return {
        "viewers": args.viewers,
        "arrived_share": round(late.size / (len(sent) * args.viewers), 4),
        "p50_ms": round(float(np.percentile(late, 50)), 1),
        "p99_ms": round(float(np.percentile(late, 99)), 1),
        "reloads": len(lost),
    }


def main() -> None:
    """Run the benchmark and print its figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--viewers", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=15)
    parser.add_argument("--per-second", type=float, default=20)
    args = parser.parse_args()
    with service.database(), service.web(PORT) as server:
        from django.test import Client

        from controlplane.common.models import Role
        from tests.factories import make_attempt, make_project, make_run, make_user

        project = make_project()
        attempt = make_attempt(run=make_run(project=project), state="running")
        client = Client()
        client.force_login(make_user(Role.VIEWER, project))
        cookie = f"sessionid={client.cookies['sessionid'].value}"
        before = service.cpu_seconds(server)
        figures = asyncio.run(story(args, attempt.run_id, cookie, attempt.token))
        figures["web_cpu_share"] = round(
            (service.cpu_seconds(server) - before) / (args.seconds + 4), 3
        )
    print(json.dumps(figures, indent=2))


if __name__ == "__main__":
    main()
