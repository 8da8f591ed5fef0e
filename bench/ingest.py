"""How many metric points a second the server stores durably, over HTTP and with rights checked.

    python -m bench.ingest [--clients 2] [--batches 1000] [--names 10] [--steps 100] [--zstd]

Prints JSON: points a second, requests a second, latency of a request, bytes a point after compaction; and in the
same run a plain store of a row a point by COPY into the same PostgreSQL, since only ratios carry over to
another machine.
"""

import argparse
import http.client
import json
import multiprocessing
import time
from typing import Any

import numpy as np

from bench import service
from safehold import wire

PORT = 18431
JOURNAL = "{:032x}"


def bodies(args: argparse.Namespace, client: int) -> list[bytes]:
    """Return the requests of one client: a float32 loss-like walk for each name."""
    random = np.random.default_rng(client)
    made = []
    for number in range(args.batches):
        first = number * args.steps + 1
        steps = np.arange(first, first + args.steps, dtype=np.int64)
        values = np.float32(2 + random.normal(0, 0.1, (args.names, args.steps))).astype(np.float64)
        columns = tuple(wire.Column(f"metric/{i}", None, values[i]) for i in range(args.names))
        batch = wire.Batch(
            rank=0, journal=JOURNAL.format(client + 1), first_seq=first, steps=steps,
            tokens=steps * 32768, times=1_764_000_000_000 + steps * 100 + random.integers(0, 9, args.steps),
            columns=columns,
        )  # fmt: skip
        body = wire.encode(batch)
        made.append(wire.compress(body)[0] if args.zstd else body)
    return made


def drive(args: argparse.Namespace, client: int, token: str, ready: Any, out: Any) -> None:
    """Send one after the other over one connection, as the client library does."""
    requests = bodies(args, client)
    headers = {"Authorization": f"Bearer {token}", "Content-Type": wire.CONTENT_MSGPACK}
    if args.zstd:
        headers["Content-Encoding"] = "zstd"
    connection = http.client.HTTPConnection("127.0.0.1", PORT)
    ready.wait()
    begun, times = time.perf_counter(), []
    for body in requests:
        sent = time.perf_counter()
        connection.request("POST", "/api/v1/ingest", body, headers)
        response = connection.getresponse()
        answer = response.read()
        if response.status != 200:
            raise RuntimeError(answer.decode(errors="replace"))
        times.append(time.perf_counter() - sent)
    out.put((begun, time.perf_counter(), times))


def measure(args: argparse.Namespace, tokens: list[str]) -> dict[str, float]:
    """Run the clients at once and return the figures."""
    context = multiprocessing.get_context("spawn")
    ready, out = context.Barrier(args.clients), context.Queue()
    children = [
        context.Process(target=drive, args=(args, i, token, ready, out))
        for i, token in enumerate(tokens)
    ]
    for child in children:
        child.start()
    results = [out.get(timeout=600) for _ in children]
    for child in children:
        child.join()
    seconds = max(end for _, end, _ in results) - min(begun for begun, _, _ in results)
    times = np.concatenate([each for _, _, each in results]) * 1000
    requests = args.clients * args.batches
    return {
        "points_per_second": requests * args.names * args.steps / seconds,
        "requests_per_second": requests / seconds,
        "request_p50_ms": float(np.percentile(times, 50)),
        "request_p95_ms": float(np.percentile(times, 95)),
    }


def copy_rows(args: argparse.Namespace) -> float:
    """Return points a second of a row a point by COPY, one batch a commit, one connection."""
    from django.db import connection

    num = min(args.batches, 200)
    with connection.cursor() as cursor:
        cursor.execute(
            "CREATE TABLE bench_point (run bigint, name text, step bigint, tokens bigint, at bigint,"
            " value float8, PRIMARY KEY (run, name, step))"
        )
    rows = [
        [(1, f"metric/{i}", n * args.steps + s, 0, 0, 1.5) for i in range(args.names) for s in range(args.steps)]
        for n in range(num)
    ]  # fmt: skip
    begun = time.perf_counter()
    for batch in rows:
        with (
            connection.cursor() as cursor,
            cursor.cursor.copy("COPY bench_point FROM STDIN") as copy,
        ):
            for row in batch:
                copy.write_row(row)
    return num * args.names * args.steps / (time.perf_counter() - begun)


def compacted_bytes(attempts: list[int]) -> tuple[float, float]:
    """Compact all; return bytes on disk and seconds."""
    from django.db import connection

    from runs.services.metrics import compact_attempt

    begun = time.perf_counter()
    for attempt in attempts:
        compact_attempt(attempt)
    seconds = time.perf_counter() - begun
    with connection.cursor() as cursor:
        cursor.execute("VACUUM FULL runs_metricbatch, runs_metricchunk, runs_series")
        cursor.execute(
            "SELECT sum(pg_total_relation_size(name)) FROM unnest(ARRAY['runs_metricbatch',"
            " 'runs_metricchunk', 'runs_series']::regclass[]) AS name"
        )
        return float(cursor.fetchone()[0]), seconds


def main() -> None:
    """Run the benchmark and print its figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--clients", type=int, default=2)
    parser.add_argument("--batches", type=int, default=1000)
    parser.add_argument("--names", type=int, default=10)
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--zstd", action="store_true")
    args = parser.parse_args()
    with service.database(), service.web(PORT) as server:
        from tests.factories import make_attempt

        attempts = [make_attempt(state="running") for _ in range(args.clients)]
        before = service.cpu_seconds(server), service.cpu_seconds(service.postgres_process())
        figures = measure(args, [attempt.token for attempt in attempts])
        after = service.cpu_seconds(server), service.cpu_seconds(service.postgres_process())
        requests = args.clients * args.batches
        figures["web_cpu_ms_per_request"] = (after[0] - before[0]) / requests * 1000
        figures["database_cpu_ms_per_request"] = (after[1] - before[1]) / requests * 1000
        size, seconds = compacted_bytes([attempt.pk for attempt in attempts])
        points = args.clients * args.batches * args.names * args.steps
        rows = copy_rows(args)
        figures |= {
            "bytes_per_point": size / points,
            "compaction_points_per_second": points / seconds,
            "row_per_point_copy_points_per_second": rows,
            "ratio_to_row_per_point": figures["points_per_second"] / rows,
        }
    print(json.dumps({key: round(value, 2) for key, value in figures.items()}, indent=2))


if __name__ == "__main__":
    main()
