"""A project with one of everything in it, and everybody who might ask for it."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import transaction
from django.test import Client
from django.utils import timezone

from controlplane.common import tokens
from controlplane.common.models import Project, Role, User
from runs.models import Approval, Cluster, PreflightReport, Run, SavedView
from safehold.config import canonical_document, config_hash, parse, to_toml
from tests.checkpoints import makers
from tests.controlplane.rights.routes import Route
from tests.factories import make_attempt, make_config, make_project, make_run, make_user
from tests.runs.corpus import documents_on

# Stands in every name of the project: no answer to an outsider may hold it.
SECRET = "hush"
# What is in the request may stand in the answer.
SLUG = "quiet"


@dataclass
class Actor:
    """Somebody who asks: signed in with a browser, and with a token where the API is asked."""

    name: str
    user: User | None
    browser: Client
    api: Client
    own_token: int = 0

    def ask(
        self, route: Route, facts: dict[str, Any], after: Callable[[Any], None] = lambda _: None
    ) -> Any:
        """Ask, look at the answer with `after`, and leave nothing behind."""
        known = facts | {"own_token": self.own_token, "token_id": self.own_token}
        path = route.path.format(**known | {name: known[other] for name, other in route.at.items()})
        body = {
            key: value.format(**known) if isinstance(value, str) else value
            for key, value in route.body.items()
        }
        cookies = dict(self.browser.cookies)
        with transaction.atomic():
            answer = self._send(route, path, body)
            after(answer)
            transaction.set_rollback(True)
        self.browser.cookies.clear()
        self.browser.cookies.update(cookies)
        return answer

    def _send(self, route: Route, path: str, body: dict[str, Any]) -> Any:
        if not route.is_api:
            return getattr(self.browser, route.method.lower())(path, body)
        if route.method == "GET":
            return self.api.get(path)
        numbers = {
            key: int(value) if str(value).isdecimal() else value for key, value in body.items()
        }
        return self.api.generic(route.method, path, _json(numbers), content_type="application/json")


@dataclass
class World:
    """What the tests ask about."""

    project: Project
    facts: dict[str, Any]
    actors: dict[str, Actor]


def make_world(folder: Path) -> World:
    """Make it; about thirty rows, and a small corpus in the folder."""
    project = make_project(name=f"{SECRET} project", slug=SLUG)
    owner = make_user(Role.OPERATOR, project, username=f"{SECRET}-owner")
    make_user(Role.ADMIN, project, username="keeper")
    member = make_user(Role.VIEWER, project, username="member")
    make_user(username="newcomer")
    person = make_user(username="person")
    closed = make_user(username="closed", is_active=False)
    facts = _records(project, owner, documents_on(folder)(checkpoint__root=str(settings.SAFEHOLD_CHECKPOINT_ROOT))) | {
        "project": project.pk, "slug": project.slug, "username": member.username, "person": person.pk,
        "closed": closed.pk, "closed_name": "closed", "rule_id": "warmup.pretrain", "name": "lab",
    }  # fmt: skip
    return World(project, facts, {actor.name: actor for actor in _actors(project)})


def _records(project: Project, owner: User, document: dict[str, Any]) -> dict[str, Any]:
    from runs.services import cards

    both = {"project": project, "created_by": owner}
    card = cards.create_card(user=owner, project=project, name=f"{SECRET} card")
    sound = canonical_document(parse(document | {"name": f"{SECRET} config"}))
    config = make_config(**both, name=f"{SECRET} config", document=sound, hash=config_hash(sound))
    run = make_run(config=config, name=f"{SECRET} run", desired=Run.Desired.RUNNING)
    attempt = make_attempt(run=run, state="running")
    ended = make_run(config=config, name=f"{SECRET} ended")
    make_attempt(run=ended, state="ended", outcome="stopped", ended_at=timezone.now())
    archived = make_run(config=config, name=f"{SECRET} archived", archived_at=timezone.now())
    doomed = make_run(
        config=config,
        name=f"{SECRET} doomed",
        archived_at=timezone.now(),
        delete_after=timezone.now(),
    )
    production = _production(both, "production")
    Approval.objects.create(
        config=production, hash=production.hash, requested_by=owner, note=SECRET
    )
    cluster = Cluster.objects.create(
        name="lab", namespace="n", way="in_cluster", image="i", created_by=make_user()
    )
    report = PreflightReport.objects.create(
        config=config, config_hash=config.hash, state="done", verdict="pass", requested_by=owner
    )
    view = SavedView.objects.create(
        project=project, user=owner, name=f"{SECRET} view", is_shared=True
    )
    checkpoint = makers.verify(makers.save(attempt, 100))
    pinned = makers.verify(makers.save(attempt, 200))
    type(pinned).objects.filter(pk=pinned.pk).update(is_pinned=True)
    numbers = {
        "card": card.pk, "config": config.pk, "run": run.pk, "report": report.pk, "view": view.pk,
        "checkpoint": checkpoint.pk,
    }  # fmt: skip
    return numbers | {f"{name}_id": pk for name, pk in numbers.items()} | {
        "ended": ended.pk, "archived": archived.pk, "doomed": doomed.pk, "pinned": pinned.pk, "cluster": cluster.name,
        "draft": make_run(config=config, name=f"{SECRET} draft").pk, "production": production.pk,
        "unasked": _production(both, "unasked").pk, "toml": to_toml(parse(document)),
    }  # fmt: skip


def _production(both: dict[str, Any], name: str) -> Any:
    document = {
        "schema_version": 1,
        "name": f"{SECRET} {name}",
        "kind": "production",
        "train": {"steps": 1},
    }
    return make_config(
        **both, name=document["name"], kind="production", document=document, hash=config_hash(document),
        frozen_at=timezone.now(),
    )  # fmt: skip


def _actors(project: Project) -> list[Actor]:
    members = [_actor(role.name.lower(), make_user(role, project)) for role in Role]
    limited = make_user(Role.ADMIN, project)
    return [
        *members,
        _actor("superuser", make_user(is_superuser=True)),
        _actor("inactive", make_user(Role.ADMIN, project, is_active=False)),
        _actor("outsider", make_user(Role.ADMIN, make_project())),
        _actor("reader", limited, scopes=["read"]),
        _actor("held", make_user(Role.ADMIN, project), project=make_project()),
        Actor("stranger", None, _client(), _client()),
    ]


def _actor(name: str, user: User, **limits: Any) -> Actor:
    browser = _client()
    browser.force_login(user)
    session = browser.session
    token, secret = tokens.issue_personal(user=user, name=name, **limits)
    own, _ = tokens.issue_personal(user=user, name="to revoke")
    # However long the tests take: a token used just now is not written to.
    type(token).objects.update(last_used_at=timezone.now() + timedelta(days=1))
    session["project_id"] = Project.objects.get(slug=SLUG).pk
    session.save()
    return Actor(name, user, browser, _client({"Authorization": f"Bearer {secret}"}), own.pk)


def _client(headers: dict[str, str] | None = None) -> Client:
    return Client(headers=headers, raise_request_exception=False)


def _json(value: Any) -> str:
    return json.dumps(value)
