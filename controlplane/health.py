"""Whether this process is alive, and whether the service behind it can do its work."""

from collections.abc import Callable

import redis
from django.contrib.auth.decorators import login_not_required
from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor
from django.http import HttpRequest, JsonResponse

from controlplane import presence

# A heartbeat comes every two seconds; fifteen missed ones are no hiccup.
WORKER_SEEN_WITHIN_SECONDS = 30
_applied: set[bool] = set()


@login_not_required
def healthz(request: HttpRequest) -> JsonResponse:
    """Answer that this process is alive; it asks nobody else."""
    return JsonResponse({"status": "ok"})


@login_not_required
def readyz(request: HttpRequest) -> JsonResponse:
    """Answer, part by part, whether the service can do its work; 503 while it cannot.

    `part=web` asks for what a web process needs to answer: while no worker runs, pages and metrics still have to come.
    """
    asked = _PARTS.get(request.GET.get("part", ""))
    if asked is None:
        told = f"There is no such part; known: {', '.join(filter(None, _PARTS))}."
        return JsonResponse({"detail": told}, status=400)
    parts = {name: _ask(_CHECKS[name]) for name in asked}
    is_ready = all(part["ok"] for part in parts.values())
    answer = JsonResponse({"ready": is_ready, "checks": parts}, status=200 if is_ready else 503)
    # Django's own mark: a probe's 503 is an answer, not an error of ours.
    answer._has_been_logged = True  # type: ignore[attr-defined]
    return answer


def _ask(check: Callable[[], str]) -> dict[str, object]:
    try:
        trouble = check()
    except (DatabaseError, redis.RedisError, OSError) as error:
        # The kind alone: a message may hold an address or a user name.
        trouble = f"{type(error).__name__}: it does not answer."
    return {"ok": not trouble, "detail": trouble or "ok"}


def _database() -> str:
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")
    return ""


def _redis() -> str:
    presence.seconds_since_worker()
    return ""


def _migrations() -> str:
    # Asked until they were once complete: they are never taken back under a running process.
    if True not in _applied:
        executor = MigrationExecutor(connection)
        waiting = executor.migration_plan(executor.loader.graph.leaf_nodes())
        if waiting:
            return f"{len(waiting)} migrations wait; run `manage.py migrate`."
        _applied.add(True)
    return ""


def _worker() -> str:
    seconds = presence.seconds_since_worker()
    if seconds is None:
        return "No worker was seen yet."
    if seconds > WORKER_SEEN_WITHIN_SECONDS:
        return f"No worker was seen for {seconds:.0f} s."
    return ""


_CHECKS = {"database": _database, "redis": _redis, "migrations": _migrations, "worker": _worker}
# By the name that a probe asks for; without one, all.
_PARTS = {"": tuple(_CHECKS), "web": ("database", "migrations")}
