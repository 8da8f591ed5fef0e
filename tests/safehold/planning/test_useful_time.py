import pytest
from hypothesis import given
from hypothesis import strategies as st

from safehold.planning import useful_time
from safehold.planning.failures import DEFAULT_PER_NODE_DAY, learned_rate, stated_rate

MINUTE = 60.0


@pytest.mark.parametrize(
    ("nodes", "ten_minutes_hourly", "two_minutes_half_hourly"),
    [(64, 0.991, 0.996), (512, 0.929, 0.970), (2048, 0.716, 0.879)],
)
def test_the_figures_at_five_failures_in_a_thousand_node_days(
    nodes: int, ten_minutes_hourly: float, two_minutes_half_hourly: float
) -> None:
    def share(restart: float, interval: float) -> float:
        return useful_time.expected_share(
            nodes=nodes, failures_per_node_day=DEFAULT_PER_NODE_DAY, restart_seconds=restart * MINUTE,
            interval_seconds=interval * MINUTE,
        )  # fmt: skip

    assert share(10, 60) == pytest.approx(ten_minutes_hourly, abs=0.0006)
    assert share(2, 30) == pytest.approx(two_minutes_half_hourly, abs=0.0006)


def test_a_stall_takes_its_part_of_each_interval() -> None:
    found = useful_time.expected_share(
        nodes=1, failures_per_node_day=0, restart_seconds=600, interval_seconds=3600, stall_seconds=300
    )  # fmt: skip
    assert found == pytest.approx(12 / 13)


def test_the_three_definitions_are_told_apart() -> None:
    """A day of training that waits two hours for its devices and whose mean step is a tenth longer than usual."""
    found = useful_time.expected(
        productive_seconds=86_400, nodes=1, failures_per_node_day=0, restart_seconds=0, interval_seconds=3600,
        queue_seconds=7200, slowdown=1.1,
    )  # fmt: skip
    assert found.job_wall_clock == 1
    assert found.availability == pytest.approx(24 / 26)
    assert found.effective_training_time == pytest.approx(1 / 1.1)


def test_what_fails_faster_than_it_restarts_never_trains() -> None:
    found = useful_time.expected(
        productive_seconds=1,
        nodes=100_000,
        failures_per_node_day=1,
        restart_seconds=600,
        interval_seconds=60,
    )
    assert found == useful_time.UsefulTime(
        job_wall_clock=0, availability=0, effective_training_time=0
    )


@given(
    nodes=st.integers(1, 10_000), rate=st.floats(0, 1), restart=st.floats(0, 3600), interval=st.floats(1, 86_400),
    stall=st.floats(0, 600), queue=st.floats(0, 86_400),
)  # fmt: skip
def test_every_ratio_is_a_share(
    nodes: int, rate: float, restart: float, interval: float, stall: float, queue: float
) -> None:
    found = useful_time.expected(
        productive_seconds=1e6, nodes=nodes, failures_per_node_day=rate, restart_seconds=restart,
        interval_seconds=interval, stall_seconds=stall, queue_seconds=queue,
    )  # fmt: skip
    assert 0 <= found.availability <= found.job_wall_clock <= 1
    assert 0 <= found.effective_training_time <= 1


def test_a_rate_is_learned_from_what_was_seen() -> None:
    assert learned_rate(num_failures=0, node_days=0.9).source == "default"
    few = learned_rate(num_failures=0, node_days=2)
    assert (few.source, few.per_node_day) == ("learned", pytest.approx(0.00495, abs=1e-5))
    many = learned_rate(num_failures=80, node_days=10_000)
    assert many.per_node_day == pytest.approx(0.008, rel=0.02)


def test_a_rate_gives_the_time_between_failures_of_a_run() -> None:
    """5 in 1,000 node-days on 8 nodes: one in 25 days."""
    assert stated_rate(5).between_failures_seconds(8) == pytest.approx(25 * 86_400)
    assert stated_rate(0).between_failures_seconds(8) == float("inf")
