"""A person before the browser, and a trainer that sends what a test tells it to."""

import time
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

import httpx
import numpy as np
from django.conf import settings
from django.test import Client
from playwright.sync_api import Page, expect

from controlplane.common.models import Project, Role, User
from runs import states
from runs.models import Attempt, Run
from safehold import wire
from tests.factories import make_attempt, make_config, make_project, make_run, make_user
from tests.live_service import LiveService

PASSWORD = "only for tests"
TOKENS_A_STEP = 1000


@dataclass
class Person:
    """A member of a project, signed in.

    Attributes:
        faults: What the browser complained about: scripts, styles, the content policy.
    """

    page: Page
    service: LiveService
    user: User
    project: Project
    faults: list[str] = field(default_factory=list)

    def open(self, path: str) -> None:
        """Open a page of the service."""
        self.page.goto(self.service.url + path)


def newcomer(page: Page, service: LiveService, role: Role = Role.OPERATOR) -> Person:
    """Return a new member of a new project, not signed in yet; what the browser complains about is kept."""
    project = make_project()
    user = make_user(role, project, password=PASSWORD)
    person = Person(page, service, user, project)
    page.on("pageerror", lambda error: person.faults.append(str(error)))
    page.on(
        "console",
        lambda message: (
            person.faults.append(message.text)
            if message.type == "error" and "422" not in message.text
            else None
        ),
    )
    return person


def signed_in(page: Page, service: LiveService, role: Role = Role.OPERATOR) -> Person:
    """Return a newcomer whose browser has a session already; no page is open."""
    person = newcomer(page, service, role)
    client = Client()
    client.force_login(person.user)
    cookie = client.cookies[settings.SESSION_COOKIE_NAME]
    page.context.add_cookies([{"name": cookie.key, "value": cookie.value, "url": service.url}])
    return person


def sign_in(person: Person) -> None:
    """Sign in as people do."""
    page = person.page
    person.open("/")
    page.get_by_label("User name").fill(person.user.username)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("heading", name="Runs", exact=True)).to_be_visible()


def running(person: Person, name: str = "gpt-tiny", **changes: Any) -> "Sender":
    """Return the sender of a run that is said to be training, though no workload stands behind it."""
    config = make_config(project=person.project, created_by=person.user)
    run = make_run(
        config=config, name=name, total_steps=1000, desired=Run.Desired.RUNNING, **changes
    )
    return Sender(person.service, make_attempt(run=run, state=states.State.RUNNING))


@dataclass
class Sender:
    """Sends real batches of one journal over HTTP."""

    service: LiveService
    attempt: Attempt
    journal: str = field(default_factory=lambda: uuid4().hex)
    seq: int = 1
    step: int = 1
    rank: int = 0

    def send(self, num_steps: int = 1, *, skip: int = 0, **metrics: Any) -> None:
        """Send steps of `train/loss` = 1000 / step, or of the metrics given (`train__loss=[...]`).

        Args:
            num_steps: How many.
            skip: Steps left out before them.
            metrics: Values by name, `__` for `/`.
        """
        self.step += skip
        steps = np.arange(self.step, self.step + num_steps, dtype=np.int64)
        given = {
            name.replace("__", "/"): np.asarray(values, float) for name, values in metrics.items()
        }
        columns = given or {"train/loss": 1000 / steps}
        batch = wire.Batch(
            rank=self.rank, journal=self.journal, first_seq=self.seq, steps=steps, tokens=steps * TOKENS_A_STEP,
            times=np.full(num_steps, int(time.time() * 1000), dtype=np.int64),
            columns=tuple(wire.Column(name, None, values) for name, values in columns.items()),
            heartbeat=wire.Heartbeat(int(time.time() * 1000), int(steps[-1]), int(steps[-1]) * TOKENS_A_STEP, "training"),
        )  # fmt: skip
        answer = httpx.post(
            f"{self.service.url}/api/v1/ingest", content=wire.encode(batch), timeout=30,
            headers={"Authorization": f"Bearer {self.attempt.token}", "Content-Type": wire.CONTENT_MSGPACK},  # type: ignore[attr-defined]
        )  # fmt: skip
        assert answer.status_code == 200, answer.text
        self.seq += num_steps
        self.step += num_steps
