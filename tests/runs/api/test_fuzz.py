"""A hostile caller: whatever is sent to whichever operation, the answer is one of ours, and a refusal names the field."""

import copy
import json
import logging
import os
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import jsonschema
import pytest
from django.db import transaction
from django.test import Client
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st

from controlplane.common.api.openapi import PROBLEM
from controlplane.common.models import Membership, Project, Role
from runs.models import SavedView
from tests.checkpoints.makers import save
from tests.factories import make_attempt, make_run, make_user
from tests.runs.api import fuzzing
from tests.runs.api.callers import Api
from tests.runs.api.test_openapi import ALL, DOCUMENT
from tests.safehold.documents import make_document

# An operation. For a hunt: SAFEHOLD_FUZZ_EXAMPLES=500, and another SAFEHOLD_FUZZ_SEED.
EXAMPLES = int(os.environ.get("SAFEHOLD_FUZZ_EXAMPLES", "5"))
SEED = int(os.environ.get("SAFEHOLD_FUZZ_SEED", "1"))
Request = tuple[str, str, bytes, str, dict[str, str]]
quick = settings(
    max_examples=EXAMPLES, database=None, deadline=None,
    suppress_health_check=list(HealthCheck),
)  # fmt: skip
# A refusal of the whole, not of a field: what is wrong is in `findings`, or it is no object at all.
WITHOUT_FIELD = {"urn:safehold:problem:preflight-failed"}


@pytest.fixture(autouse=True)
def silence() -> Iterator[None]:
    """Write no line for each refusal: thousands would take longer than the requests."""
    logging.disable(logging.WARNING)
    yield
    logging.disable(logging.NOTSET)


@pytest.fixture
def root(project: Project) -> Api:
    """An administrator who is a member of one project, so that no refusal is for want of a role."""
    user = make_user(is_superuser=True)
    Membership.objects.create(user=user, project=project, role=Role.ADMIN)
    return Api(user)


@pytest.fixture
def known(project: Project, root: Api) -> dict[str, str]:
    """One of each, by the name of its parameter."""
    run = make_run(project=project)
    attempt = make_attempt(run=run)
    other = make_user(Role.VIEWER, project)
    card = root.post("cards", {"name": "fuzzed", "project": project.slug}).json()["id"]
    view = SavedView.objects.create(project=project, user=root.user, name="a", query="")
    rule = root.get("rulebook", project=project.slug).json()["items"][0]["id"]
    return {
        "card_id": str(card), "config_id": str(run.config_id), "run_id": str(run.pk), "slug": project.slug,
        "checkpoint_id": str(save(attempt, 5).pk), "username": other.username, "view_id": str(view.pk), "rule_id": rule,
        "report_id": str(run.config.preflight_reports.get().pk), "token_id": "987654321", "name": "no-such-cluster",
    }  # fmt: skip


def check(answer: Any, what: object) -> None:
    told = (what, answer.status_code, getattr(answer, "content", b"")[:400])
    assert answer.status_code < 500, told
    if answer.status_code < 400:
        return
    assert answer["Content-Type"] == "application/problem+json", told
    document = json.loads(answer.content)
    jsonschema.validate(document, PROBLEM)
    assert document["status"] == answer.status_code, told
    if answer.status_code == 422 and document["type"] not in WITHOUT_FIELD:
        assert document.get("errors"), told
        assert all(0 < len(one["field"]) < 1500 for one in document["errors"]), told


def send(client: Client, method: str, request: Request) -> Any:
    path, query, body, content_type, headers = request
    address = f"/api/v1{path}" + (f"?{query}" if query else "")
    with transaction.atomic():  # a broken statement does not spoil the next example
        return client.generic(
            method.upper(), address, body, content_type=content_type, headers=headers
        )


TAGS = sorted({operation["tags"][0] for _, _, operation in ALL})


@pytest.mark.parametrize("tag", TAGS)
def test_no_request_breaks_an_operation(root: Api, known: Mapping[str, str], tag: str) -> None:
    for method, path, operation in ALL:
        # A digest of a password takes a second, on purpose; its fields are those of every other body.
        if operation["tags"][0] == tag and path != "/me/password":
            attack(root, known, method, path, operation)


def attack(root: Api, known: Mapping[str, str], method: str, path: str, operation: dict[str, Any]) -> None:  # fmt: skip
    """Send an operation what nobody should."""

    @seed(SEED)
    @quick
    @given(fuzzing.requests(method, path, operation, DOCUMENT, known))
    def hostile(request: Request) -> None:
        answer = send(root.client, method, request)
        if getattr(answer, "streaming", False):
            list(answer.streaming_content)
        check(answer, (method, request[0], request[1], request[2][:300], *request[3:]))

    hostile()


def leaves(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield path
    for key, item in value.items() if isinstance(value, dict) else ():
        yield from leaves(item, (*path, key))


def changed(document: dict[str, Any], path: tuple[Any, ...], value: Any) -> Any:
    if not path:
        return value
    made = copy.deepcopy(document)
    here = made
    for key in path[:-1]:
        here = here[key]
    here[path[-1]] = value
    return made


CARD = {
    "task_form": "open_generation", "acceptance": [{"metric": "loss", "split": "val", "threshold": 6.0}],
    "network": {"parameters": 70e9}, "data": {"tokens": 1e11}, "compute": {"devices": 512, "mfu": 0.5},
}  # fmt: skip
BODIES: dict[str, tuple[str, Any, Callable[[Any], dict[str, Any]]]] = {
    "config": ("configs", make_document(), lambda document: {"document": document}),
    "card": ("cards", CARD, lambda data: {"name": "a", "data": data}),
    "estimate": ("cards/estimate", CARD, lambda data: {"data": data}),
}


@pytest.mark.parametrize("name", BODIES)
def test_no_value_of_a_field_breaks_a_document(root: Api, project: Project, name: str) -> None:
    path, document, body_of = BODIES[name]

    @seed(SEED)
    @settings(quick, max_examples=10 * EXAMPLES)
    @given(st.sampled_from(list(leaves(document))), fuzzing.JUNK)
    def hostile(place: tuple[Any, ...], junk: Any) -> None:
        body = json.dumps(body_of(changed(document, place, junk))).encode()
        check(
            send(root.client, "post", (f"/{path}", "", body, "application/json", {})), (place, junk)
        )

    hostile()
