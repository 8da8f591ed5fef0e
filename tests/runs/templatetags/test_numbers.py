from datetime import UTC, datetime, timedelta

import pytest
from django.utils import timezone

from runs.templatetags import chips, numbers, sparks, times


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (3.14159, "3.14"),
        (0.00012, "1.20e-4"),
        (99.96, "100"),
        (float("nan"), "NaN"),
        (float("-inf"), "-∞"),
        (12345.6, "12,346"),
        (32_240_566_272_000, "3.22e13"),
    ],
)
def test_three_significant_digits(value: float, text: str) -> None:
    assert numbers.significant(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(999, "999"), (1_234_567, "1.23 M"), (999_999, "1.00 M"), (7.4e18, "7.40 E"), (2.5, "2.50")],
)
def test_counts_take_a_prefix(value: float, text: str) -> None:
    assert numbers.scaled(value) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (4.25, "4.2 s"),
        (75, "1 min 15 s"),
        (3725, "1 h 2 min"),
        (2294, "38 min"),
        (90000, "1 d 1 h"),
    ],
)
def test_durations_have_two_units_at_most(seconds: float, text: str) -> None:
    assert numbers.lasting(seconds) == text


def test_the_exact_value_is_shown_on_hover() -> None:
    assert numbers.count(1_234_567) == '<data value="1234567" title="1,234,567">1.23 M</data>'
    assert numbers.in_bytes(1536) == '<data value="1536" title="1,536 B">1.50 KiB</data>'
    assert (
        numbers.duration(timedelta(minutes=38))
        == '<data value="2280.0" title="2,280.0 s">38 min</data>'
    )


@pytest.mark.parametrize("absent", [None, "", "abc", True])
def test_what_is_no_number_is_a_dash(absent: object) -> None:
    assert numbers.three(absent) == numbers.count(absent) == numbers.NOTHING


def test_a_chip_has_a_word_a_shape_and_a_tone() -> None:
    chip = chips.chip("failed")
    assert "Failed" in chip
    assert "#cross" in chip
    assert "chip-bad" in chip


def test_an_unknown_state_is_shown_as_it_is_and_escaped() -> None:
    assert chips.chip("<odd>") == '<span class="chip chip-idle">&lt;odd&gt;</span>'


def test_a_time_reads_without_script() -> None:
    assert "5m ago" in times.ago(timezone.now() - timedelta(minutes=5, seconds=3))
    assert "2026-01-02 03:04:05 UTC" in times.at(datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC))
    assert times.ago(None) == numbers.NOTHING


@pytest.mark.parametrize("spark", [{}, {"values": [1.0]}, {"values": [None, None]}])
def test_too_few_values_draw_no_line(spark: dict[str, object]) -> None:
    assert "polyline" not in sparks.sparkline(spark)


def test_a_gap_is_stepped_over() -> None:
    line = sparks.sparkline({"every": 1, "values": [3.0, None, 1.0]})
    assert 'points="0.0,1.5 72.0,16.5"' in line


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (3241.2, "3,241"),
        (6.33, "6.33"),
        (1, "1.00"),
        (0.5, "12 h"),
        (0.0035, "5 min 2 s"),
        (None, "–"),
    ],
)
def test_less_than_a_day_is_told_in_hours(value: float | None, text: str) -> None:
    assert text in numbers.days(value)
    assert text in numbers.days_told(value)
