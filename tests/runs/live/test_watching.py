"""What waits for one browser: filtered, bounded, and aware of what was lost."""

import time
from typing import Any

import numpy as np
import pytest

from runs.bundles import MAX_BODY_BYTES, Note, bundle, records_of
from runs.watching import MAX_POINTS, RunWatch
from safehold import wire
from tests.runs.ingest.posting import make_batch


@pytest.fixture
def watch() -> RunWatch:
    viewer = RunWatch()
    viewer.names = frozenset({"train/loss"})
    return viewer


def told(*batches: wire.Batch) -> dict[str, Any]:
    return bundle("run.bundle", [Note("metrics", records_of(2, batch)) for batch in batches])


def kinds(watch: RunWatch) -> list[str]:
    return [message["kind"] for message in watch.take()]


def test_points_of_the_chosen_metrics_come_with_their_place(watch: RunWatch) -> None:
    columns = (
        wire.Column("train/loss", np.array([1], np.uint32), np.array([np.nan])),
        wire.Column("lr", None, np.array([0.1, 0.2])),
    )
    watch.add(told(make_batch(2, tokens=np.array([-1, 200]), columns=columns)))
    [message] = watch.take()
    [part] = message["parts"]
    assert (part["attempt"], part["rank"], part["last_seq"]) == (2, 0, 2)
    assert (part["steps"], part["tokens"]) == ([1, 2], [None, 200])
    assert part["columns"] == {"train/loss": {"at": [1], "values": ["NaN"]}}
    assert watch.take() == []


def test_metrics_that_nobody_chose_send_nothing(watch: RunWatch) -> None:
    watch.add(told(make_batch(3, name="other")))
    assert watch.take() == []


def test_a_gap_between_bundles_asks_the_page_to_reload_once(watch: RunWatch) -> None:
    watch.add(told(make_batch(3)))
    watch.take()
    watch.add(told(make_batch(3, first_seq=9)))
    watch.add(told(make_batch(3, first_seq=12)))
    assert kinds(watch) == ["reload"]
    watch.add(told(make_batch(3, first_seq=15)))
    assert kinds(watch) == ["metrics"]


def test_a_heartbeat_shows_that_the_last_message_was_lost(watch: RunWatch) -> None:
    watch.add(told(make_batch(3)))
    watch.take()
    watch.add(told(make_batch(0, first_seq=4)))
    assert kinds(watch) == []
    watch.add(told(make_batch(0, first_seq=7)))
    assert kinds(watch) == ["reload"]


def test_each_journal_has_its_own_numbers(watch: RunWatch) -> None:
    watch.add(told(make_batch(3), make_batch(3, rank=1, journal="f" * 32, first_seq=50)))
    assert kinds(watch) == ["metrics"]


def test_too_much_for_a_slow_browser_becomes_a_reload(watch: RunWatch) -> None:
    num = MAX_POINTS // 5
    for at in range(6):
        watch.add(told(make_batch(num, first_seq=at * num + 1)))
    assert kinds(watch) == ["reload"]


def test_records_that_did_not_fit_into_the_bundle_become_a_reload(watch: RunWatch) -> None:
    random = np.random.default_rng(0)
    batches = [
        make_batch(9000, first_seq=at * 9000 + 1,
                   columns=(wire.Column("train/loss", None, random.normal(size=9000)),))
        for at in range(5)
    ]  # fmt: skip
    message = told(*batches)
    size = sum(len(part[5] or b"") for part in message["parts"])
    assert size < 3 * 256 * 1024
    assert message["parts"][-1][4] == 45_000
    watch.add(message)
    assert kinds(watch) == ["reload"]


def test_a_batch_too_large_to_be_sent_tells_only_its_numbers(watch: RunWatch) -> None:
    num = MAX_BODY_BYTES // 8 + 1
    message = told(make_batch(num))
    assert message["parts"] == [[2, 0, make_batch(1).journal, 1, num, None]]
    watch.add(message)
    assert kinds(watch) == ["reload"]
    watch.add(told(make_batch(1, first_seq=num + 1)))
    assert kinds(watch) == ["metrics"]


def test_records_without_points_are_no_loss(watch: RunWatch) -> None:
    """The first message of a trainer says that it has started, and nothing that a chart shows."""
    watch.add(told(make_batch(1, columns=())))
    assert kinds(watch) == []
    watch.add(told(make_batch(2, first_seq=2)))
    assert kinds(watch) == ["metrics"]


def test_viewers_of_the_same_metrics_share_what_is_taken_apart(watch: RunWatch) -> None:
    other = RunWatch()
    other.names = frozenset({"train/loss"})
    message = told(make_batch(2))
    watch.add(message)
    other.add(message)
    assert watch.take()[0]["parts"][0] is other.take()[0]["parts"][0]


def test_other_news_is_passed_on_by_kind_and_bounded(watch: RunWatch) -> None:
    notes = [Note("event", {"id": i}) for i in range(250)] + [Note("state", {"state": "running"})]
    watch.add(bundle("run.bundle", notes))
    messages = {message["kind"]: message.get("items") for message in watch.take()}
    assert messages["state"] == [{"state": "running"}]
    assert len(messages["event"]) == 199
    assert "reload" in messages


def test_rows_of_a_list_are_merged_by_run() -> None:
    notes = [Note("rows", (1, {"step": 1})), Note("rows", (1, {"step": 2, "state": "running"}))]
    message = bundle("project.bundle", notes)
    assert message["rows"] == {"1": {"step": 2, "state": "running"}}


def test_a_time_that_the_sender_left_out_is_now(watch: RunWatch) -> None:
    watch.add(told(make_batch(2, times=np.array([wire.NO_TIME, 1_764_000_000_000]))))
    [message] = watch.take()
    now, sent = message["parts"][0]["times"]
    assert now == pytest.approx(time.time() * 1000, abs=10_000)
    assert sent == 1_764_000_000_000
