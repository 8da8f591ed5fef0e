from datetime import timedelta
from types import ModuleType
from typing import Any

import pytest
from django.core.cache import cache
from django.utils import timezone

from runs.models import MetricBatch
from runs.services import compaction
from runs.services.ingest import store_batch
from tests.factories import make_attempt
from tests.runs.ingest.posting import make_batch
from tests.waiting import wait_until
from workers.tasks import metrics

pytestmark = pytest.mark.django_db


@pytest.fixture
def woken(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The attempts whose compaction the sweep asked for."""
    return kept(monkeypatch, metrics)


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The attempts whose compaction ingest asked for."""
    return kept(monkeypatch, compaction)


def kept(monkeypatch: pytest.MonkeyPatch, module: ModuleType) -> list[int]:
    found: list[int] = []

    def wake(name: str, **ids: Any) -> None:
        assert name == "workers.compact"
        found.append(ids["attempt_id"])

    monkeypatch.setattr(module, "wake", wake)
    return found


def test_compacting_twice_is_compacting_once() -> None:
    attempt = make_attempt(state="running")
    store_batch(attempt=attempt, batch=make_batch(3))
    for _ in range(2):
        metrics.compact(attempt_id=attempt.pk)
    assert not MetricBatch.objects.exists()


def test_tails_that_were_left_behind_are_found(woken: list[int]) -> None:
    fresh, ended, old, long = (make_attempt(state="running") for _ in range(4))
    for attempt in (fresh, ended, old):
        store_batch(attempt=attempt, batch=make_batch(3))
    for seq in range(1, compaction.TAIL_BATCHES + 1):
        store_batch(attempt=long, batch=make_batch(1, first_seq=seq))
    before = timezone.now() - compaction.IDLE_AFTER - timedelta(seconds=1)
    MetricBatch.objects.filter(attempt=old).update(received_at=before)
    type(ended).objects.filter(pk=ended.pk).update(
        state="ended", outcome="stopped", ended_at=timezone.now()
    )
    metrics.compact_idle()
    assert sorted(woken) == sorted([ended.pk, old.pk, long.pk])


def test_a_long_tail_is_asked_for_once(asked: list[int]) -> None:
    attempt = make_attempt(state="running")
    cache.delete(f"compact:{attempt.pk}")
    for seq in range(1, 2 * compaction.TAIL_BATCHES):
        store_batch(attempt=attempt, batch=make_batch(1, first_seq=seq))
    wait_until(lambda: attempt.pk in asked, 10, "compaction was never asked for")
    assert asked.count(attempt.pk) == 1
