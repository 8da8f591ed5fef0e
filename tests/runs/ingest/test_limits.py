"""Whatever is acknowledged can be read again: a batch that could not would take the charts of its run with it."""

import json

import numpy as np
import pytest

from runs.metricstore import compaction, tail
from runs.models import Attempt, MetricBatch, Series
from safehold import wire
from safehold.wire import limits, points
from tests.factories import make_attempt
from tests.runs.ingest.posting import ack_of, chart, make_batch, post, send, shown

pytestmark = pytest.mark.django_db


@pytest.fixture
def attempt() -> Attempt:
    return make_attempt(state="running")


def named(num: int) -> bytes:
    told = [{"name": f"layer-{i}/norm", "step": 1, "value": 1.0} for i in range(num)]
    return json.dumps({"v": 1, "seq": 1, "points": told}).encode()


def test_points_of_more_names_than_a_batch_holds_are_refused_as_too_large(
    attempt: Attempt, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("safehold.wire.packing.MAX_COLUMNS", 20)
    monkeypatch.setattr(points, "MAX_COLUMNS", 20)
    response = post(attempt, named(21))
    assert (response.status_code, response.json()["field"]) == (413, "points")
    assert not Series.objects.exists()
    assert post(attempt, named(20)).json()["stored"] == 20
    assert compaction.compact_attempt(attempt.pk) == 1


def test_the_names_of_both_forms_have_one_limit() -> None:
    assert points.MAX_COLUMNS == limits.MAX_COLUMNS


def test_a_batch_at_the_limit_is_read_again_though_one_value_was_refused(attempt: Attempt) -> None:
    """What is left of its columns is stored with positions: more bytes than came."""
    n, num = 50_000, 76
    columns = tuple(wire.Column(f"m{i}", None, np.full(n, float(i))) for i in range(num))
    steps = np.arange(n)
    steps[0] = -1
    batch = make_batch(n, columns=columns, steps=steps)
    assert limits.MAX_BODY_BYTES * 0.8 < len(wire.encode(batch)) < limits.MAX_BODY_BYTES
    ack = ack_of(send(attempt, batch))
    assert (ack.stored, len(ack.refused)) == ((n - 1) * num, num)
    (stored,) = MetricBatch.objects.values_list("payload", flat=True)
    assert tail.decoded(stored).num_points == (n - 1) * num
    assert set(shown(chart(attempt, "m0")).values()) == {0.0}
