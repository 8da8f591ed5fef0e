"""How long a logged point takes to the browsers: to 50 open sockets, and to the pixels of a real one.

    python -m bench.live [--viewers 50] [--seconds 20] [--per-second 10] [--no-browser]

A trainer with the real library logs one step every 1/per-second. Every viewer holds a WebSocket and notes when the
step arrives; one Chromium has the run page open and notes when the frame is drawn that shows it. All clocks are those
of this machine. Prints JSON: p50 and p99 in milliseconds from `run.log()`; reloads are told.
"""

import argparse
import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import numpy as np
import websockets

import safehold
from bench import service

PORT = 18432
URL = f"http://127.0.0.1:{PORT}"
# Notes, for each chart that is given data, when the frame after it was drawn.
WATCH_FRAMES = """
(() => {
  window.drawnAt = new Map();
  let real;
  const note = (data) => {
    const steps = data[0];
    requestAnimationFrame(() => setTimeout(() => {
      const now = performance.timeOrigin + performance.now();
      for (const step of steps) if (!window.drawnAt.has(step)) window.drawnAt.set(step, now);
    }));
  };
  const watched = { construct(target, values) {
    const plot = new target(...values);
    const setData = plot.setData;
    plot.setData = (data, ...rest) => { setData(data, ...rest); note(data); };
    note(values[1]);
    return plot;
  } };
  Object.defineProperty(window, "uPlot", { get: () => real, set: (plot) => { real = new Proxy(plot, watched); } });
})();
"""


async def view(run_id: int, cookie: str, seen: list[tuple[int, float]], lost: list[int]) -> None:
    """Follow one run as a page does."""
    headers = {"Cookie": f"sessionid={cookie}", "Origin": URL}
    address = f"ws://127.0.0.1:{PORT}/ws/runs/{run_id}/"
    async with websockets.connect(address, additional_headers=headers) as page:
        await page.send(json.dumps({"names": ["train/loss"]}))
        async for text in page:
            now, message = time.time() * 1000, json.loads(text)
            if message["kind"] == "reload":
                lost.append(1)
            for part in message.get("parts", ()):
                seen += [(step, now) for step in part["steps"]]


@asynccontextmanager
async def browser(run_id: int, cookie: str) -> AsyncIterator[Any]:
    """Open the run page in Chromium."""
    from playwright.async_api import async_playwright

    async with async_playwright() as playwright:
        chromium = await playwright.chromium.launch(
            executable_path="/usr/bin/chromium", args=["--no-sandbox"]
        )
        context = await chromium.new_context()
        await context.add_cookies([{"name": "sessionid", "value": cookie, "url": URL}])
        await context.add_init_script(WATCH_FRAMES)
        page = await context.new_page()
        await page.goto(f"{URL}/runs/{run_id}/?x=step")
        yield page
        await chromium.close()


def train(seconds: float, per_second: float) -> None:
    """Log with the library and print when each step was logged, in ms."""
    run, logged = safehold.init(), {}
    for step, _ in run.steps(range(int(seconds * per_second))):
        began = time.time()
        run.log(step, {f"m{i}": 1.0 for i in range(9)} | {"train/loss": 2.0}, tokens=step)
        logged[step] = began * 1000
        time.sleep(max(0.0, began + 1 / per_second - time.time()))
    run.finish()
    print(json.dumps(logged))


async def training(args: argparse.Namespace, token: str) -> dict[int, float]:
    """Run the trainer and return when it logged each step."""
    with tempfile.TemporaryDirectory() as folder:
        given = {"SAFEHOLD_URL": URL, "SAFEHOLD_TOKEN": token, "SAFEHOLD_DIR": folder}
        command = [sys.executable, "-m", "bench.live", "--train"]
        command += ["--seconds", str(args.seconds), "--per-second", str(args.per_second)]
        trainer = await asyncio.create_subprocess_exec(
            *command, env=os.environ | given, stdout=subprocess.PIPE
        )
        output, _ = await trainer.communicate()
    return {int(step): at for step, at in json.loads(output).items()}


async def story(args: argparse.Namespace, run_id: int, cookie: str, token: str) -> dict[str, Any]:
    """Open the pages, train, and count."""
    seen: list[tuple[int, float]] = []
    lost: list[int] = []
    pages = [asyncio.create_task(view(run_id, cookie, seen, lost)) for _ in range(args.viewers)]
    drawn: list[tuple[int, float]] = []
    if args.browser:
        async with browser(run_id, cookie) as page:
            logged = await training(args, token)
            await asyncio.sleep(1)
            drawn = [(step, at) for step, at in await page.evaluate("[...window.drawnAt]")]
    else:
        logged = await training(args, token)
    for task in pages:
        task.cancel()
    await asyncio.gather(*pages, return_exceptions=True)
    figures = {"viewers": args.viewers, "steps": len(logged), "reloads": len(lost)}
    figures |= delays("to_sockets", seen, logged, args.viewers)
    return figures | (delays("to_pixels", drawn, logged, 1) if args.browser else {})


def delays(
    name: str, arrived: list[tuple[int, float]], logged: dict[int, float], viewers: int
) -> dict[str, float]:
    """Return the share that arrived, and p50 and p99 of the delay in ms."""
    late = np.array([at - logged[step] for step, at in arrived if step in logged])
    return {
        f"{name}_arrived_share": round(late.size / (len(logged) * viewers), 4),
        f"{name}_p50_ms": round(float(np.percentile(late, 50)), 1),
        f"{name}_p99_ms": round(float(np.percentile(late, 99)), 1),
    }


def main() -> None:
    """Run the benchmark and print its figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--viewers", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--per-second", type=float, default=10)
    parser.add_argument("--no-browser", dest="browser", action="store_false")
    parser.add_argument("--train", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.train:
        train(args.seconds, args.per_second)
        return
    with service.database(), service.web(PORT) as server:
        _measure(args, server)


def _measure(args: argparse.Namespace, server: Any) -> None:
    from django.test import Client

    from controlplane.common.models import Role
    from tests.factories import make_attempt, make_project, make_run, make_user

    project = make_project()
    attempt = make_attempt(run=make_run(project=project), state="running")
    client = Client()
    client.force_login(make_user(Role.VIEWER, project))
    cookie = client.cookies["sessionid"].value
    before, began = service.cpu_seconds(server), time.monotonic()
    figures = asyncio.run(story(args, attempt.run_id, cookie, attempt.token))
    share = (service.cpu_seconds(server) - before) / (time.monotonic() - began)
    print(json.dumps(figures | {"web_cpu_share": round(share, 3)}, indent=2))


if __name__ == "__main__":
    main()
