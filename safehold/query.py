"""Runs and their metrics from Python: what `ApiClient.runs()` and `ApiClient.run()` give.

from safehold.api_client import ApiClient

with ApiClient.from_environment() as client:
    frame = client.run(41).metrics("train/loss")
"""

from __future__ import annotations

import csv
import importlib
import importlib.util
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, get_args

if TYPE_CHECKING:
    from safehold.api_client import ApiClient

Form = Literal["auto", "pandas", "polars", "columns"]
Columns = dict[str, list[Any]]
_WORDS = {"NaN", "Infinity", "-Infinity"}
_KINDS = {
    "name": "str", "attempt": "int64", "rank": "int64", "step": "int64", "tokens": "int64", "time_ms": "int64",
    "value": "float64", "superseded": "bool",
}  # fmt: skip
# The columns of an export, and how a text becomes a value of each.
READERS: dict[str, Callable[[str], Any]] = {
    "name": lambda text: text.removeprefix("'"),  # which keeps a spreadsheet from computing it
    "attempt": int,
    "rank": int,
    "step": int,
    "tokens": lambda text: int(text) if text else None,
    "time_ms": int,
    "value": float,
    "superseded": lambda text: text == "true",
}


@dataclass(frozen=True)
class RunView:
    """A run as the service told of it; ask again with `client.run(id)` for what is new.

    Attributes:
        id: Its number.
        name: What people call it.
        state: As pages show it: running, paused, finished, failed …
        step: Optimizer steps done; None before the first.
        tokens: Tokens seen.
        facts: Everything that the API says of it.
    """

    id: int
    name: str
    state: str
    step: int | None
    tokens: int | None
    facts: Mapping[str, Any] = field(repr=False)
    _client: ApiClient = field(repr=False, compare=False)

    @classmethod
    def of(cls, facts: Mapping[str, Any], client: ApiClient) -> RunView:
        """Return the view of one answer."""
        plain = {name: facts[name] for name in ("id", "name", "state", "step", "tokens")}
        return cls(**plain, facts=facts, _client=client)

    def metrics(self, *names: str, form: Form = "auto", live_only: bool = True) -> Any:
        """Return every point of these metrics, or of all: one row a point.

        Args:
            names: As they were logged; none: all.
            form: `pandas`, `polars`, `columns` (a dict of lists), or `auto`: the first of them that is installed.
            live_only: Leave out the steps that a later attempt did over.

        Returns:
            Columns name, attempt, rank, step, tokens, time_ms, value, superseded; NaN and infinities as they are.

        Raises:
            ApiError: The service refused, or did not answer.
            ModuleNotFoundError: The form that is asked for needs a package that is not installed.
        """
        lines = self._client.lines(f"runs/{self.id}/metrics/export", names=list(names) or None)
        return framed(columns_of(lines, live_only=live_only), form, _KINDS)

    def metric_names(self) -> list[str]:
        """Return the names of all metrics that it has logged."""
        return list(self._client.get(f"runs/{self.id}/metrics")["names"])

    def config(self) -> dict[str, Any]:
        """Return the document of its config."""
        return dict(self._client.get(f"configs/{self.facts['config']}")["document"])

    def events(self, kind: str | None = None) -> Iterator[dict[str, Any]]:
        """Yield what happened, newest first."""
        return self._client.all(f"runs/{self.id}/events", kind=kind)

    def checkpoints(self) -> Iterator[dict[str, Any]]:
        """Yield its checkpoints, newest first."""
        return self._client.all("checkpoints", run=self.id)


def columns_of(lines: Iterable[str], *, live_only: bool = True) -> Columns:
    """Return an exported CSV as typed columns."""
    columns: Columns = {name: [] for name in READERS}
    for row in csv.DictReader(lines):
        if live_only and row["superseded"] == "true":
            continue
        for name, read in READERS.items():
            columns[name].append(read(row[name]))
    return columns


def columns_of_items(items: Sequence[Mapping[str, Any]]) -> Columns:
    """Return the items of a list as columns; a figure that JSON has no number for is one again."""
    names = dict.fromkeys(name for item in items for name in item)
    return {name: _figures([item.get(name) for item in items]) for name in names}


def framed(columns: Columns, form: Form = "auto", kinds: Mapping[str, str] | None = None) -> Any:
    """Return columns as a data frame of the wanted library.

    Args:
        columns: Of one length.
        form: As of `RunView.metrics`.
        kinds: Types by the name of the column, for a frame without a row: str, int64, float64, bool.

    Raises:
        ValueError: The form is none of ours.
        ModuleNotFoundError: The library is not installed.
    """
    if form not in get_args(Form):
        raise ValueError(f"form is {form!r}; it must be one of {', '.join(get_args(Form))}.")
    if form == "auto":
        installed = (name for name in ("pandas", "polars") if importlib.util.find_spec(name))
        form = next(installed, "columns")  # type: ignore[arg-type]
    if form == "columns":
        return columns
    library = importlib.import_module(form)
    if kinds and not any(columns.values()):
        return _without_rows(library, form, kinds)
    return library.DataFrame(columns)


def _without_rows(library: Any, form: str, kinds: Mapping[str, str]) -> Any:
    if form == "pandas":
        return library.DataFrame({name: library.Series(dtype=kind) for name, kind in kinds.items()})
    known = {"str": library.String, "int64": library.Int64, "float64": library.Float64, "bool": library.Boolean}  # fmt: skip
    return library.DataFrame(schema={name: known[kind] for name, kind in kinds.items()})


def _figures(values: list[Any]) -> list[Any]:
    """Turn NaN and infinities, which the API names by their words, into numbers where the rest are numbers."""
    texts = {one for one in values if isinstance(one, str)}
    others = {type(one) for one in values if not isinstance(one, str) and one is not None}
    if not texts or not texts <= _WORDS or not others or not others <= {int, float}:
        return values
    return [float(one) if isinstance(one, str) else one for one in values]
