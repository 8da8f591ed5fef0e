"""How long the server takes for the list of runs of a project with 10,000 of them: page, filters, orders, API.

    python -m bench.run_list [--runs 10000]

The whole request in this process, templates included, without a network; each question 40 times, its first page and
one in the middle. Prints JSON.
"""

import argparse
import json
import math
import random
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from bench import service

QUESTIONS = {
    "plain": "",
    "by name": "order=name",
    "by loss": "order=loss",
    "by step": "order=step",
    "by state": "order=state",
    "by activity": "order=activity",
    "oldest": "order=oldest",
    "active": "state=active",
    "failed": "state=failed",
    "never launched": "state=draft",
    "a tag": "tag=tag-3",
    "a group": "group=group-7",
    "a text that few have": "q=run 9999",
    "a text that none has": "q=nothing+like+it",
    "archived": "shelf=archived",
    "failed with a tag, by loss": "state=failed&tag=tag-3&order=loss",
}
TIMES = 40


def fill(num_runs: int) -> Any:
    """Make the runs of one project: some active, some failed, one in twenty archived; return project and person."""
    from django.utils import timezone

    from controlplane.common.models import Role
    from runs.models import Run
    from tests.factories import make_config, make_project, make_user

    project = make_project(name="Bench")
    user = make_user(Role.ADMIN, project)
    configs = [make_config(project=project, created_by=user) for _ in range(50)]
    dice, now = random.Random(0), timezone.now()
    spark = {"every": 16, "values": [round(10 / (n + 1), 3) for n in range(60)]}
    runs = Run.objects.bulk_create(
        Run(
            project=project, config=configs[number % 50], created_by=user, name=f"run {number:05}", total_steps=10_000,
            step=dice.randrange(10_000) if number % 10 else None, tokens=dice.randrange(10**10), sparkline=spark,
            last_loss=math.nan if number % 97 == 0 else dice.uniform(1, 9) if number % 10 else None,
            tokens_per_second=dice.uniform(1e4, 1e6), last_point_at=now, group=f"group-{number % 200}",
            tags=[f"tag-{number % 12}", f"seed-{number % 5}"], archived_at=now if number % 20 == 19 else None,
            checkpoint_step=1000, checkpoint_state="stable",
        )
        for number in range(num_runs)
    )  # fmt: skip
    _make_attempts(runs, now)
    return project, user


def _make_attempts(runs: list[Any], now: Any) -> None:
    from runs.models import Attempt

    rows = []
    for number, run in enumerate(run for run in runs if run.pk % 25):
        for attempt in range(1, 2 + number % 3):
            is_open = number % 50 == 0 and attempt == 1 + number % 3
            rows.append(
                Attempt(
                    run=run, number=attempt, launcher="local", requested_at=now, state_at=now, token_hash=f"{run.pk}/{attempt}",
                    state="running" if is_open else "ended", ended_at=None if is_open else now,
                    outcome="" if is_open else ("finished", "failed", "stopped")[number % 3],
                )
            )  # fmt: skip
    Attempt.objects.bulk_create(rows, batch_size=5000)


def timed(ask: Callable[[], Any]) -> dict[str, float]:
    """Return p50 and p95 of a request in milliseconds, and the processor time of one without the database's."""
    answer = ask()
    assert answer.status_code == 200, answer.content[:500]
    taken, begun = [], time.process_time()
    for _ in range(TIMES):
        start = time.perf_counter()
        ask()
        taken.append((time.perf_counter() - start) * 1000)
    return {
        "p50_ms": round(float(np.percentile(taken, 50)), 1),
        "p95_ms": round(float(np.percentile(taken, 95)), 1),
        "cpu_ms": round((time.process_time() - begun) / TIMES * 1000, 1),
    }


def main() -> None:
    """Run the benchmark and print its figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=10_000)
    num_runs = parser.parse_args().runs
    with service.database():
        from django.db import connection
        from django.test import Client

        from controlplane.common import tokens
        from runs import run_table
        from runs.models import Run

        project, user = fill(num_runs)
        with connection.cursor() as cursor:
            cursor.execute("ANALYZE")
        client = Client(SERVER_NAME="127.0.0.1")
        client.force_login(user)
        figures = {
            name: timed(lambda q=query: client.get(f"/runs/?{q}"))
            for name, query in QUESTIONS.items()
        }  # type: ignore[misc]
        _, middle = run_table.table(project=project, filters=run_table.RunFilters(order="loss"))
        figures["by loss, second page"] = timed(
            lambda: client.get(f"/runs/?order=loss&cursor={middle}")
        )
        token = tokens.issue_personal(user=user, name="bench")[1]
        bearer = Client(headers={"Authorization": f"Bearer {token}", "Host": "127.0.0.1"})
        figures["API, 200 a page"] = timed(lambda: bearer.get("/api/v1/runs?limit=200"))
        few = Run.objects.order_by("-pk").values_list("pk", flat=True)[:50]
        rows = "&".join(f"run={pk}" for pk in few)
        figures["50 changed lines"] = timed(lambda: client.get(f"/runs/rows/?{rows}"))
    worst = max(one["p95_ms"] for one in figures.values())
    print(json.dumps({"runs": num_runs, "worst_p95_ms": worst, **figures}, indent=2))


if __name__ == "__main__":
    main()
