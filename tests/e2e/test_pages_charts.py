"""The scripts of the charts, asked in the browser that runs them."""

from typing import Any
from urllib.parse import quote

import pytest
from playwright.sync_api import Page

from tests.live_service import LiveService

pytestmark = pytest.mark.e2e

ANSWER = {
    "x": "step",
    "journals": {"j": 2},
    "series": [{"name": "loss", "parts": [
        {"attempt": 1, "rank": 0, "superseded": False, "x": [1, 2], "steps": [1, 2], "values": [3.0, 2.0], "marks": []},
    ]}],
}  # fmt: skip


def part(last_seq: int, steps: list[int], values: list[Any], **changes: Any) -> dict[str, Any]:
    """Return one part of a live message."""
    whole = {
        "attempt": 1, "rank": 0, "journal": "j", "last_seq": last_seq, "steps": steps, "tokens": steps, "times": steps,
        "columns": {"loss": {"at": list(range(len(steps))), "values": values}},
    }  # fmt: skip
    return whole | changes


@pytest.fixture
def store(page: Page, live_service_module: LiveService) -> Any:
    """Return a function: messages -> what the store says to each, and the points that it holds then."""
    page.goto(f"{live_service_module.url}/sign-in")
    script = """async ([answers, messages]) => {
      const { Store } = await import("/static/js/charts/store.js");
      const store = new Store();
      for (const answer of answers) store.take(["loss"], answer);
      const said = messages.map((part) => store.append({ kind: "metrics", parts: [part] }));
      const [held = { x: [], values: [], marks: [] }] = store.parts("loss");
      return { said, x: held.x, values: held.values, marks: held.marks.map(({ x, value }) => [x, String(value)]) };
    }"""
    return lambda *messages, answer=ANSWER, answers=None: page.evaluate(
        script, [answers or [answer], list(messages)]
    )


def test_what_follows_on_is_appended(store: Any) -> None:
    held = store(part(3, [3], [1.5]), part(4, [4], [1.25]))
    assert held == {
        "said": [True, True],
        "x": [1, 2, 3, 4],
        "values": [3, 2, 1.5, 1.25],
        "marks": [],
    }


def test_what_the_answer_held_already_is_not_doubled(store: Any) -> None:
    assert store(part(2, [2], [2.0]))["x"] == [1, 2]


def test_a_value_that_is_not_finite_becomes_a_mark(store: Any) -> None:
    held = store(part(3, [3], ["NaN"]), part(4, [4], ["-Infinity"]))
    assert held["said"] == [True, True]
    assert held["marks"] == [[3, "NaN"], [4, "-Infinity"]]


@pytest.mark.parametrize(
    "message",
    [
        part(3, [1], [9.0]),
        part(3, [3], [1.0], attempt=2),
        part(3, [3], [1.0], columns={"other": {"at": [0], "values": [1.0]}}),
    ],
    ids=["a step that goes back", "another attempt", "a metric that is not held"],
)
def test_what_does_not_simply_follow_makes_the_page_ask_again(
    store: Any, message: dict[str, Any]
) -> None:
    held = store(message)
    assert held["said"] == [False]
    assert held["x"] == [1, 2]


def test_what_the_server_would_not_draw_is_left_out(store: Any) -> None:
    """Else the page would ask again with each message: of every rank, and of each point without tokens."""
    other_rank = part(3, [3], [9.0], rank=1, journal="k")
    nowhere = part(3, [3, 4], [9.0, 1.5], tokens=[None, 4])
    held = store(
        other_rank, nowhere, part(4, [5], [9.0], tokens=[None]), answer=ANSWER | {"x": "tokens"}
    )
    assert held["said"] == [True, True, True]
    assert (held["x"], held["values"]) == ([1, 2, 4], [3, 2, 1.5])


def test_times_of_a_clock_that_is_off_are_set_right_as_the_server_does(store: Any) -> None:
    answer = ANSWER | {"x": "time", "attempts": [{"attempt": 1, "clock_skew_seconds": 7200.0}]}
    held = store(part(3, [3], [1.5], times=[7_200_003]), answer=answer)
    assert held["x"] == [1, 2, 3]


def test_of_an_answer_on_another_axis_nothing_is_drawn(store: Any) -> None:
    other = {
        "x": "tokens",
        "journals": {},
        "series": [{"name": "loss", "parts": ANSWER["series"][0]["parts"]}],
    }  # type: ignore[index]
    assert store(answers=[ANSWER, other])["x"] == []


def test_an_attempt_that_the_page_has_not_seen_is_asked_for_whatever_its_journal(
    store: Any,
) -> None:
    """Senders of JSON that name no journal have the same one in each attempt."""
    assert store(part(1, [1], [9.0], attempt=2))["said"] == [False]


def test_many_names_are_asked_for_in_several_questions(
    page: Page, live_service_module: LiveService
) -> None:
    page.goto(f"{live_service_module.url}/sign-in")
    script = """async (names) => {
      const { questions } = await import("/static/js/charts/questions.js");
      return questions(names);
    }"""
    short, long = [f"m{i}" for i in range(250)], ["损失" * 100 + str(i) for i in range(8)]
    asked = page.evaluate(script, [*short, "m1", *long])
    assert [name for group in asked for name in group] == [*short, *long]
    assert all(len(group) <= 100 for group in asked)
    assert all(len(quote("".join(group), safe="")) <= 6000 for group in asked)
    assert page.evaluate(script, []) == []


def test_steps_beyond_2_to_53_are_read_from_text(store: Any) -> None:
    assert store(part(3, ["9007199254740995"], [1.0]))["said"] == [True]  # type: ignore[list-item]


def test_smoothing_keeps_a_level_and_steps_over_gaps(
    page: Page, live_service_module: LiveService
) -> None:
    page.goto(f"{live_service_module.url}/sign-in")
    smoothed = page.evaluate("""async () => {
      const { ema } = await import("/static/js/charts/smoothing.js");
      return ema([0, 10, 10, 20, 1000], [5, 5, null, 5, 5], 0.9, 1000);
    }""")
    assert [value if value is None else pytest.approx(5) for value in smoothed] == smoothed
    assert smoothed[2] is None


@pytest.fixture
def numbers(page: Page, live_service_module: LiveService) -> Any:
    """Return a function: the name of a function of the charts' numbers and its arguments -> what it says."""
    page.goto(f"{live_service_module.url}/sign-in")
    script = """async ([name, given]) => {
      const all = await import("/static/js/charts/values.js");
      return all[name](...given);
    }"""
    return lambda name, *given: page.evaluate(script, [name, list(given)])


def test_numbers_have_three_digits_and_an_axis_the_same_ones(numbers: Any) -> None:
    said = [numbers("three", value) for value in (1600, 999.6, 5, 5.5, 0.0123, 0.00012, -2500, 0)]
    assert said == ["1.60 k", "1.00 k", "5.00", "5.50", "0.0123", "1.20e-4", "-2.50 k", "0"]
    assert [numbers("scaled", value) for value in (5, 1600, 1e6)] == ["5", "1.60 k", "1.00 M"]
    assert [numbers("inBytes", value) for value in (512, 1536)] == ["512 B", "1.50 KiB"]
    assert numbers("ticks", [5.5, 5, 4.5]) == ["5.5", "5.0", "4.5"]
    assert numbers("ticks", [0, 500, 1000, 1500]) == ["0", "0.5 k", "1.0 k", "1.5 k"]
    assert numbers("ticks", [0, 1e-6, 2e-6]) == ["0", "1e-6", "2e-6"]
    assert numbers("ticks", [0.4, 0.45, 0.5], "share") == ["40 %", "45 %", "50 %"]
    assert numbers("ticks", [0, 2**30, 2**31], "bytes") == ["0", "1 GiB", "2 GiB"]
    assert numbers("ticks", [0, 43_200, 86_400], "seconds") == ["0", "12 h", "24 h"]
    assert numbers("ticks", [3048 * 2**20, 3056 * 2**20], "bytes") == ["3048 MiB", "3056 MiB"]
    assert numbers("ticks", [1595, 1597.5, 1600]) == ["1595.0", "1597.5", "1600.0"]
    assert numbers("ticks", [None, 5, None]) == ["", "5", ""]
    assert numbers("logTicks", [0.001, None, 1, 10_000]) == ["0.001", "", "1", "10 k"]
    assert [numbers("lasting", value) for value in (4.2, 3725, 90_000)] == [
        "4.2 s",
        "1 h 2 min",
        "1 d 1 h",
    ]
