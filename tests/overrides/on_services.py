"""Attempts through the doors: services, API, pages, tokens."""

import json
from collections.abc import Iterator
from typing import Any

from controlplane.common.models import Role, User
from runs.services import approvals, configs, preflight, runs
from runs.services import attempts as lives
from safehold.config import to_toml
from tests.checkpoints.makers import make_checkpoint
from tests.factories import make_run, make_user
from tests.overrides.attempts import Attempted
from tests.overrides.world import World
from tests.runs.planned import make_card

_JSON = "application/json"


def attempts() -> Iterator[Attempted]:
    """Yield them."""
    yield from _by_people()
    yield from _by_the_api()
    yield from _with_tokens()
    yield from _on_pages()


def _by_people() -> Iterator[Attempted]:
    people = {
        "its author": lambda w: w.author, "who asked for it": lambda w: w.requester,
        "an operator": lambda w: make_user(Role.OPERATOR, w.project), "a viewer": lambda w: make_user(Role.VIEWER, w.project),
        "an outsider": lambda w: w.outsider, "nobody": lambda w: User(username="nobody", is_active=False),
    }  # fmt: skip
    for name, person in people.items():
        yield Attempted(
            f"approval by {name}",
            lambda w, p=person: approvals.approve(user=p(w), approval=w.request),
        )
    yield Attempted("approval by the author as administrator", _as_administrator)
    yield Attempted("approval of a decided request", _decided)
    yield Attempted("a launch before approval", lambda w: _launch(w, w.author))
    yield Attempted(
        "a launch past preflight", lambda w: runs.request_launch(run=_planned(w), user=w.author)
    )
    yield Attempted(
        "a launch by the approver", lambda w: runs.request_launch(run=w.run, user=w.approver)
    )
    yield Attempted("a launch after withdrawal", _withdrawn)
    yield Attempted("approval of what is not frozen", _not_frozen)
    yield Attempted("a fork with another config of the kind", _forked)
    yield Attempted(
        "a launch under a card that names another base",
        lambda w: runs.request_launch(run=_on_a_base(w), user=w.author, reason="x"),
    )
    yield Attempted("an attempt with the weights of another base", _with_weights)


def _as_administrator(world: World) -> Any:
    User.objects.filter(pk=world.author.pk).update(is_superuser=True)
    return approvals.approve(user=User.objects.get(pk=world.author.pk), approval=world.request)


def _decided(world: World) -> Any:
    approvals.reject(user=world.approver, approval=world.request, reason="Too long.")
    return approvals.approve(user=world.approver, approval=world.request)


def _withdrawn(world: World) -> Any:
    approvals.approve(user=world.approver, approval=world.request)
    approvals.withdraw(user=world.approver, approval=world.request, reason="Found a fault.")
    return _launch(world, world.author)


def _not_frozen(world: World) -> Any:
    made = configs.create_config(
        user=world.author, project=world.project, document=world.config.document
    )
    return approvals.request_approval(user=world.author, config=made)


def _forked(world: World) -> Any:
    run = runs.create_run(
        user=world.author, project=world.project, config=world.pending, parent=world.run
    )
    return runs.request_launch(run=run, user=world.author)


def _on_a_base(world: World) -> Any:
    """Return a run of the approved config under a card that names a base, as nobody approved it."""
    base = make_checkpoint(run=make_run(project=world.project))
    card = make_card(world.author, world.project, stage="sft", base_checkpoint=base.pk)
    return runs.create_run(user=world.author, project=world.project, config=world.config, card=card)


def _with_weights(world: World) -> Any:
    base = make_checkpoint(run=make_run(project=world.project))
    start = {"id": base.pk, "path": base.path, "run": base.run_id, "step": base.step}
    return lives.create_attempt(run=world.run, checkpoint=start | {"takes": "weights"})


def _planned(world: World) -> Any:
    return runs.create_run(user=world.author, project=world.project, config=world.pending)


def _launch(world: World, user: User) -> Any:
    return preflight.launch(run=_planned(world), user=user)


def _by_the_api() -> Iterator[Attempted]:
    bodies = {"optimizer": {"lr": 1}, "document": {}, "toml": "", "config": 1, "overrides": ["optimizer.lr=1"], "env": {"LR": "1"}}  # fmt: skip
    for name, value in bodies.items():
        yield Attempted(
            f"API launch with {name}",
            lambda w, n=name, v=value: _post(w, w.author, f"runs/{w.run.pk}/launch", {n: v}),
        )
        if name != "config":
            yield Attempted(
                f"API run with {name}",
                lambda w, n=name, v=value: _post(
                    w, w.author, "runs", {"config": w.config.pk, n: v}
                ),
            )
    for method in ("put", "patch", "delete"):
        yield Attempted(
            f"API {method} of the config",
            lambda w, m=method: _send(w, w.author, m, f"configs/{w.config.pk}"),
        )
    yield Attempted(
        "API approval by who asked",
        lambda w: _post(w, w.requester, f"configs/{w.pending.pk}/approve", {}),
    )
    yield Attempted(
        "API approval by the author",
        lambda w: _post(w, w.author, f"configs/{w.pending.pk}/approve", {}),
    )
    yield Attempted(
        "API launch before approval",
        lambda w: _post(w, w.author, f"runs/{_planned(w).pk}/launch", {}),
    )
    yield Attempted(
        "API launch with the weights of another base",
        lambda w: _post(w, w.author, f"runs/{w.run.pk}/launch", {
            "weights_from": make_checkpoint(run=make_run(project=w.project)).pk}),
    )  # fmt: skip
    yield Attempted("API store under the same digest", lambda w: _post(w, w.author, "configs", {
        "document": w.config.document | {"kind": "experiment"}, "project": w.project.slug}), is_silent=True)  # fmt: skip
    yield Attempted("API upload of TOML that follows it", lambda w: _post(w, w.author, "configs", {
        "toml": to_toml(w.config.document | {"name": "edited"}), "parent": w.config.pk, "project": w.project.slug,
    }), is_silent=True)  # fmt: skip


def _with_tokens() -> Iterator[Attempted]:
    yield Attempted(
        "token of another project's admin",
        lambda w: _post(w, w.outsider, f"configs/{w.pending.pk}/approve", {}),
    )
    yield Attempted(
        "freeze from another project",
        lambda w: _post(w, w.outsider, f"configs/{w.config.pk}/freeze", {}),
    )
    yield Attempted(
        "run from another project", lambda w: _post(w, w.outsider, "runs", {"config": w.config.pk})
    )
    yield Attempted(
        "the approver's token without that scope", lambda w: _scoped(w, ["read", "plan", "run"])
    )
    yield Attempted("the approver's token to read", lambda w: _scoped(w, ["read"]))
    yield Attempted("the approver's token for another project", _elsewhere)
    yield Attempted("no token", lambda w: _anonymous(w))


def _scoped(world: World, scopes: list[str]) -> Any:
    client = world.api(world.approver, scopes=scopes)
    return client.post(f"/api/v1/configs/{world.pending.pk}/approve", "{}", content_type=_JSON)


def _elsewhere(world: World) -> Any:
    from tests.factories import make_project

    client = world.api(world.approver, project=make_project())
    return client.post(f"/api/v1/configs/{world.pending.pk}/approve", "{}", content_type=_JSON)


def _anonymous(world: World) -> Any:
    from django.test import Client

    return Client().post(f"/api/v1/configs/{world.pending.pk}/approve", "{}", content_type=_JSON)


def _on_pages() -> Iterator[Attempted]:
    for path in ("", "diff/", "download/"):
        yield Attempted(f"form posted to the config's {path or 'page'}", lambda w, p=path: w.page(w.author).post(
            f"/configs/{w.config.pk}/{p}", {"side": "toml", "toml": "name = 'x'"}))  # fmt: skip
    yield Attempted("form that follows it", lambda w: w.page(w.author).post("/configs/new/", {
        "side": "toml", "toml": to_toml(w.config.document | {"name": "edited"}), "parent": w.config.pk}), is_silent=True)  # fmt: skip
    yield Attempted(
        "approve button of who asked", lambda w: _press(w, w.requester, "approve"), is_silent=True
    )
    yield Attempted(
        "approve button of the author", lambda w: _press(w, w.author, "approve"), is_silent=True
    )
    yield Attempted("approve button of an outsider", lambda w: _press(w, w.outsider, "approve"))
    yield Attempted("launch button before approval", lambda w: w.page(w.author).post(
        f"/runs/{_planned(w).pk}/launch/act/"), is_silent=True)  # fmt: skip
    yield Attempted("launch form before approval", lambda w: w.page(w.author).post(
        "/runs/new/", {"config": w.pending.pk, "launcher": "local"}), is_silent=True)  # fmt: skip
    yield Attempted(
        "admin pages",
        lambda w: w.page(w.author).post(f"/admin/runs/config/{w.config.pk}/change/", {}),
    )


def _press(world: World, user: User, act: str) -> Any:
    return world.page(user).post(f"/configs/{world.pending.pk}/{act}/act/", {"reason": "Mine."})


def _post(world: World, user: User, path: str, body: Any) -> Any:
    return world.api(user).post(f"/api/v1/{path}", json.dumps(body), content_type=_JSON)


def _send(world: World, user: User, method: str, path: str) -> Any:
    return getattr(world.api(user), method)(f"/api/v1/{path}", "{}", content_type=_JSON)
