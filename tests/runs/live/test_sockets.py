"""The WebSockets over the real channel layer: rights, the chosen metrics, LIVE-01."""

import asyncio
import json
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from channels.db import database_sync_to_async
from django.contrib.auth.models import AnonymousUser
from django.contrib.sessions.backends.db import SessionStore
from django.db import OperationalError
from redis.exceptions import RedisError

from controlplane.common.models import Role, User
from runs import live
from runs.models import Run
from runs.services.ingest import store_batch
from tests.factories import make_attempt, make_project, make_run, make_user
from tests.runs.ingest.posting import make_batch
from tests.runs.live.page import Page

pytestmark = pytest.mark.django_db(transaction=True)
CASE = json.loads((Path(__file__).parents[2] / "cases" / "live" / "burst_of_500.json").read_text())


@pytest.fixture
def run() -> Run:
    return make_run(project=make_project())


@pytest.fixture
def viewer(run: Run) -> User:
    return make_user(Role.VIEWER, run.project)


async def received(page: Page, until: Callable[[dict[str, Any]], bool]) -> list[dict[str, Any]]:
    """Return the messages up to the first one that fits."""
    messages: list[dict[str, Any]] = []
    while not messages or not until(messages[-1]):
        messages.append(await page.read())
    return messages


def in_thread(act: Callable[..., Any], *args: Any, **given: Any) -> Awaitable[Any]:
    return database_sync_to_async(act)(*args, **given)


async def watching(path: str, user: User, names: list[str]) -> Page:
    page = await Page(path, user).open()
    await page.choose(*names)
    await page.write("{")  # a choice gives no answer, what follows it does
    assert (await page.read())["kind"] == "error"
    return page


def test_an_outsider_is_sent_away(run: Run) -> None:
    async def story() -> int:
        page = await Page(f"/ws/runs/{run.pk}/", await in_thread(make_user)).open()
        return int((await page.output())["code"])

    assert asyncio.run(story()) == 4403


def test_a_stranger_is_told_to_sign_in(run: Run) -> None:
    async def story() -> int:
        page = await Page(f"/ws/runs/{run.pk}/", AnonymousUser()).open()
        return int((await page.output())["code"])

    assert asyncio.run(story()) == 4401


@pytest.mark.parametrize("error", [RedisError("refused"), OperationalError("gone"), OSError("no")])
def test_without_a_broker_or_database_a_page_is_told_to_come_again(
    run: Run, viewer: User, monkeypatch: pytest.MonkeyPatch, caplog: Any, error: Exception
) -> None:
    async def fail(*args: Any) -> None:
        raise error

    monkeypatch.setattr("runs.feeds.follow", fail)

    async def story() -> int:
        page = await Page(f"/ws/runs/{run.pk}/", viewer).open()
        return int((await page.output())["code"])

    assert asyncio.run(story()) == 1013
    assert "socket.closed_for_now" in caplog.text


@pytest.mark.parametrize(
    ("change", "code"), [("session", 4401), ("closed", 4401), ("removed", 4403)]
)
def test_an_open_socket_ends_with_the_right_to_look(
    run: Run, viewer: User, monkeypatch: pytest.MonkeyPatch, change: str, code: int
) -> None:
    monkeypatch.setattr("runs.consumers.RECHECK_SECONDS", 0.1)
    session = SessionStore()
    session.create()

    def end() -> None:
        if change == "session":
            session.delete()
        elif change == "closed":
            User.objects.filter(pk=viewer.pk).update(is_active=False)
        else:
            viewer.memberships.all().delete()

    async def story() -> int:
        page = await Page(f"/ws/runs/{run.pk}/", viewer, session).open()
        await asyncio.sleep(0.5)
        await in_thread(end)
        return int((await page.output())["code"])

    assert asyncio.run(story()) == code


def test_a_database_that_was_away_for_once_does_not_leave_a_socket_open_for_ever(
    run: Run, viewer: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("runs.consumers.RECHECK_SECONDS", 0.1)
    asked: list[int] = []

    def person_of(scope: dict[str, Any]) -> None:
        asked.append(1)
        if len(asked) == 1:
            raise OperationalError("gone")

    monkeypatch.setattr("controlplane.common.sign_ins.person_of", person_of)

    async def story() -> int:
        page = await Page(f"/ws/runs/{run.pk}/", viewer).open()
        return int((await page.output())["code"])

    assert asyncio.run(story()) == 4401


def test_a_stored_batch_reaches_those_who_chose_its_metric(run: Run, viewer: User) -> None:
    attempt = make_attempt(run=run, state="running")

    async def story() -> list[dict[str, Any]]:
        page = await watching(f"/ws/runs/{run.pk}/", viewer, ["train/loss"])
        await in_thread(store_batch, attempt=attempt, batch=make_batch(3))
        found = await received(page, lambda message: message["kind"] == "metrics")
        await page.close()
        return found

    [part] = asyncio.run(story())[-1]["parts"]
    assert part["steps"] == [1, 2, 3]
    assert list(part["columns"]) == ["train/loss"]


def test_a_metric_that_is_new_is_told_before_it_was_chosen(run: Run, viewer: User) -> None:
    attempt = make_attempt(run=run, state="running")

    async def story() -> list[dict[str, Any]]:
        page = await watching(f"/ws/runs/{run.pk}/", viewer, [])
        await in_thread(store_batch, attempt=attempt, batch=make_batch(3, name="val/loss"))
        found = await received(page, lambda message: message["kind"] == "names")
        await page.close()
        return found

    assert asyncio.run(story())[-1]["items"] == [{"names": ["val/loss"]}]


def test_lists_hear_of_changed_rows(run: Run, viewer: User) -> None:
    attempt = make_attempt(run=run, state="running")

    async def story() -> dict[str, Any]:
        page = await Page(f"/ws/projects/{run.project_id}/", viewer).open()
        await in_thread(store_batch, attempt=attempt, batch=make_batch(3))
        found = await received(page, lambda message: message["kind"] == "rows")
        await page.close()
        return found[-1]

    row = asyncio.run(story())["rows"][str(run.pk)]
    assert (row["step"], row["tokens"], row["last_loss"]) == (3, 300, 2.03)


def test_what_a_page_sends_wrongly_is_answered(run: Run, viewer: User) -> None:
    async def story() -> dict[str, Any]:
        page = await Page(f"/ws/runs/{run.pk}/", viewer).open()
        await page.write("{")
        return await page.read()

    assert asyncio.run(story())["kind"] == "error"


def test_after_a_burst_slow_and_fast_viewers_hold_what_a_reload_shows(
    run: Run, viewer: User
) -> None:
    """LIVE-01: 500 batches within a second; each viewer either has every point or was told to reload."""
    attempt = make_attempt(run=run, state="running")
    num = CASE["messages"]

    def burst() -> float:
        begun = time.monotonic()
        for at in range(num):
            live.publish_batch(
                run.pk, attempt.number, make_batch(1, first_seq=at + 1, first_step=at + 1)
            )
        return time.monotonic() - begun

    async def follow(page: Page, reads_per_s: float) -> tuple[set[int], bool, int]:
        steps, reloads, count = set(), False, 0
        while num not in steps and not (reloads and count > 3):
            message = await page.read(20)
            count += 1
            reloads |= message["kind"] == "reload"
            for part in message.get("parts", []):
                steps |= set(part["steps"])
            await asyncio.sleep(1 / reads_per_s)
        return steps, reloads, count

    async def story() -> tuple[float, list[tuple[set[int], bool, int]]]:
        pages = [
            await watching(f"/ws/runs/{run.pk}/", viewer, ["train/loss"]) for _ in CASE["viewers"]
        ]
        followers = [
            asyncio.create_task(follow(page, who["reads_per_s"]))
            for page, who in zip(pages, CASE["viewers"], strict=True)
        ]
        seconds = await asyncio.to_thread(burst)
        seen = await asyncio.gather(*followers)
        for page in pages:
            await page.close()
        return seconds, seen

    seconds, seen = asyncio.run(story())
    assert seconds < CASE["within_s"]
    for steps, reloads, count in seen:
        assert reloads or steps == set(range(1, num + 1))
        assert count <= 30
