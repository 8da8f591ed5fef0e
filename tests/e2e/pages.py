"""Every page of the service, found by the names of its addresses, with something on each."""

from collections.abc import Iterator, Sequence
from typing import Any

from django.urls import URLPattern, URLResolver, get_resolver, reverse
from django.utils import timezone

from checkpoints.models import Checkpoint
from runs.models import Card, Cluster, LogChunk, PreflightReport, SavedView
from runs.services import cards, events
from safehold.findings import Finding
from tests.e2e.browsing import Person, running

# The API has no pages but its documents; these are others' work and not part of ours.
_LEFT_OUT = ("api:", "ingest", "checkpoints/register")
Names = dict[str, Any]
MISSING_PAGE = "/no/such/page"


def addresses(known: Names) -> dict[str, str]:
    """Return the address of every named view that can be opened, its parameters filled in from `known`."""
    found = {}
    for name, parameters in _named(get_resolver().url_patterns):
        if name.startswith(_LEFT_OUT):
            continue
        unknown = [one for one in parameters if one not in known]
        assert not unknown, f"{name} takes {unknown}: give tests/e2e/pages.py a value for it"
        found[name] = reverse(name, kwargs={one: known[one] for one in parameters})
    return found


def pages_of(person: Person) -> list[str]:
    """Return the addresses that answer a whole page, each with something on it."""
    opened = []
    for name, address in addresses(_filled(person)).items():
        if name == "runs:compare":
            address += f"?{_compared(person)}"
        answer = person.page.request.get(person.service.url + address, max_redirects=0)
        is_page = answer.status == 200 and "text/html" in answer.headers.get("content-type", "")
        if is_page and "<html" in answer.text()[:400]:
            opened.append(address)
    return [
        *opened,
        f"/runs/?{'q=nothing-like-it'}",
        "/search/?q=gpt",
        "/search/?q=nothing-like-it",
        MISSING_PAGE,
    ]


def _compared(person: Person) -> str:
    runs = person.project.runs.order_by("pk").values_list("pk", flat=True)[:2]
    return "&".join(f"run={pk}" for pk in runs)


def _named(
    patterns: Sequence[URLPattern | URLResolver], before: str = ""
) -> Iterator[tuple[str, list[str]]]:
    for pattern in patterns:
        if isinstance(pattern, URLResolver):
            namespace = f"{pattern.namespace}:" if pattern.namespace else ""
            yield from _named(pattern.url_patterns, before + namespace)
        elif pattern.name:
            yield before + pattern.name, list(pattern.pattern.converters)


def _filled(person: Person) -> Names:
    """Make one of everything; return the values of the parameters of addresses."""
    long_name = "a run whose name is longer than anybody on call would like it to be"
    first, second = running(person, tags=["bf16"], group="width"), running(person, long_name)
    for sender in (first, second):
        sender.send(50, train__loss=[1000 / (n + 1) for n in range(49)] + [float("nan")])
    attempt, run = first.attempt, first.attempt.run
    now = timezone.now()
    LogChunk.objects.create(
        attempt=attempt, source="rank-0", offset=0, size=6, data=b"step 1", received_at=now
    )
    events.record(
        run=run, attempt=attempt, kind="alert", message="The loss jumped.", data={"step": 20}
    )
    checkpoint = Checkpoint.objects.create(
        run=run, attempt=attempt, step=40, kind="anchor", path="/c/step-40", state="verified", state_at=now, created_at=now,
        saved_at=now, size_bytes=1000,
    )  # fmt: skip
    events.record(
        run=run, attempt=attempt, kind="checkpoint", message="It was saved.",
        data={"id": checkpoint.pk, "step": 40, "state": "verified"},
    )  # fmt: skip
    card: Card = cards.create_card(user=person.user, project=person.project, name="Wider is better")
    finding = Finding("CONF-3.config_fields", "warn", "The rate is high.", {"lr": 1}, "Lower it.")
    report = PreflightReport.objects.create(
        config=run.config, config_hash=run.config.hash, state="done", verdict="warn", findings=[finding.to_dict()],
    )  # fmt: skip
    cluster, _ = Cluster.objects.get_or_create(
        name="lab",
        defaults={"namespace": "a", "way": "token", "image": "a:1", "created_by": person.user},
    )
    view = SavedView.objects.create(
        project=person.project, user=person.user, name="Mine", query="q=a"
    )
    return {
        "run_id": run.pk, "config_id": run.config_id, "card_id": card.pk, "report_id": report.pk,
        "checkpoint_id": checkpoint.pk, "view_id": view.pk, "name": cluster.name, "act": "archive", "part": "model",
        "username": person.user.username, "person_id": person.user.pk, "token_id": 1, "rule_id": "CONF-5.lr",
    }  # fmt: skip
