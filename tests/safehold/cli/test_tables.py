"""What people see: at a terminal of 80 columns, and in a pipe."""

import io
from typing import Any

import pytest
from rich.console import Console

from safehold.cli import tables
from safehold.cli.tables import cell, count, duration, size, table


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> io.StringIO:
    """Have a terminal of 80 columns."""
    screen = io.StringIO()

    def console(width: int = 80, **how: Any) -> Console:
        return Console(file=screen, force_terminal=True, color_system=None, width=width, **how)

    monkeypatch.setattr(tables, "Console", console)
    return screen


def test_no_name_is_cut_at_80_columns(terminal: io.StringIO) -> None:
    columns = ("id", "state", "where", "reason", "path")
    path = "/a/very/long/path/to/a/checkpoint/of/a/run/run-1/a1/step-35"
    table(
        columns, [(1, "could_not_start", "node-17", "All ranks saved and stopped at last.", path)]
    )
    shown = terminal.getvalue()
    for whole in ("could_not_start", "node-17", path):
        assert whole in shown
    assert "ranks" in shown


def test_prose_is_folded_to_the_terminal(terminal: io.StringIO) -> None:
    table(("id", "message"), [(1, "word " * 40)])
    assert max(map(len, terminal.getvalue().splitlines())) <= 80


def test_a_column_in_which_nothing_stands_is_left_out(capsys: pytest.CaptureFixture[str]) -> None:
    table(("id", "group", "tags"), [(1, "", []), (2, None, ["a", "b"])])
    assert [line.split() for line in capsys.readouterr().out.splitlines()] == [
        ["id", "tags"],
        ["1"],
        ["2", "a,", "b"],
    ]


def test_a_list_of_nothing_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    table(("id", "name"), [])
    assert capsys.readouterr().out == "None.\n"


def test_a_pipe_gets_no_colour_and_no_fold(capsys: pytest.CaptureFixture[str]) -> None:
    table(("id", "message"), [(1, "word " * 100)])
    out = capsys.readouterr().out
    assert "\x1b" not in out
    assert out.count("\n") == 2


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, ""), (True, "yes"), (False, "no"), ("2026-11-29T22:13:31.123456Z", "2026-11-29 22:13:31Z"),
        ("2026-11-29T22:13:31+00:00", "2026-11-29 22:13:31Z"), ("2026-11-29", "2026-11-29"), ([1, None, "a"], "1, , a"),
        ({"a": "é"}, '{"a": "é"}'), ({}, ""), ("[red]x[/red] :smile:", "[red]x[/red] :smile:"),
    ],
)  # fmt: skip
def test_a_value_is_told_as_people_read_it(value: object, text: str) -> None:
    assert cell(value) == text


def test_units_suit_the_size() -> None:
    assert [size(num) for num in (None, 0, 999, 4_360_000, 5.5e12)] == ["", "0 B", "999 B", "4.36 MB", "5.5 TB"]  # fmt: skip
    assert [duration(days) for days in (30, 0.5, 0.00513, 1e-5)] == ["30 days", "12 h", "7.39 min", "0.864 s"]  # fmt: skip
    assert [count(value) for value in (81_920, 0, None)] == ["81,920", "0", ""]
    assert tables.figure(8.31640911102295) == "8.316"
