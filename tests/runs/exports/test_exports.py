"""What is exported is what was logged: every point, NaN and infinities too, whatever the name."""

import csv
import importlib
import io
import math
import struct
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from controlplane.common.errors import Invalid
from runs import exports
from runs.exports import parquet, tensorboard
from runs.models import Run
from runs.services import ingest, metrics
from safehold import query
from safehold.wire import Column
from tests.factories import make_attempt, make_run
from tests.runs.api.callers import Api
from tests.runs.ingest.posting import make_batch
from tests.runs.views.people import People

ODD = 'a, "b" <c>/名'
VALUES = [3.0, math.nan, math.inf, -math.inf, 0.1]


@pytest.fixture
def run(db: None) -> Run:
    """A run whose second attempt did the last two of five steps over; one of two metrics is compacted."""
    first = make_attempt(
        run=make_run(), state="ended", outcome="failed", ended_at="2026-01-01T00:00Z"
    )
    columns = (Column("train/loss", None, np.array(VALUES)), Column(ODD, None, np.arange(5.0)))
    ingest.store_batch(attempt=first, batch=make_batch(5, columns=columns))
    metrics.compact_attempt(first.pk)
    again = make_attempt(run=first.run, start_step=3, start_checkpoint={"id": 1}, state="running",
                         first_step_at="2026-01-01T00:00Z")  # fmt: skip
    columns = (Column("train/loss", None, np.array([7.0, 8.0])),)
    ingest.store_batch(attempt=again, batch=make_batch(2, first_step=4, columns=columns))
    return first.run


def content(run: Run, format: str, **how: Any) -> bytes:
    return b"".join(exports.export_of(run=run, format=format, **how).parts)


def test_csv_has_every_point_as_it_was_logged(run: Run) -> None:
    lines = list(csv.DictReader(io.StringIO(content(run, "csv").decode())))
    loss = [line for line in lines if line["name"] == "train/loss"]
    assert [line["value"] for line in loss] == [
        "3.0",
        "NaN",
        "Infinity",
        "-Infinity",
        "0.1",
        "7.0",
        "8.0",
    ]
    assert [line["superseded"] for line in loss] == ["false"] * 3 + ["true"] * 2 + ["false"] * 2
    assert [(line["attempt"], line["step"]) for line in loss[-2:]] == [("2", "4"), ("2", "5")]
    assert (loss[0]["tokens"], loss[0]["time_ms"]) == ("100", "1764000000001")
    assert sum(line["name"] == ODD for line in lines) == 5


def test_only_the_named_metrics_are_written(run: Run) -> None:
    lines = content(run, "csv", names=[ODD]).decode().splitlines()
    assert len(lines) == 6
    assert all(line.startswith('"a, ""b"') for line in lines[1:])


def test_parquet_has_the_same_rows_with_their_types(run: Run) -> None:
    pq = importlib.import_module("pyarrow.parquet")
    table = pq.read_table(io.BytesIO(content(run, "parquet"))).to_pylist()
    loss = [row for row in table if row["name"] == "train/loss"]
    np.testing.assert_array_equal([row["value"] for row in loss], [*VALUES, 7.0, 8.0])
    assert [row["superseded"] for row in loss] == [False] * 3 + [True] * 2 + [False] * 2
    assert len(table) == 12


def test_without_pyarrow_parquet_says_what_is_missing(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(name: str) -> None:
        raise ModuleNotFoundError(name=name)

    monkeypatch.setattr(parquet.importlib, "import_module", missing)
    with pytest.raises(parquet.NoParquet, match="pyarrow"):
        exports.export_of(run=run, format="parquet")


def test_tensorboard_has_the_curve_that_stands(run: Run) -> None:
    found = [event for event in scalars(content(run, "tensorboard")) if event[0] == "train/loss"]
    assert [(step, value) for _, step, value in found if math.isfinite(value)] == [
        (1, 3.0),
        (4, 7.0),
        (5, 8.0),
    ]
    assert math.isnan(found[1][2])
    assert len(found) == 5


def test_the_checksum_is_that_of_the_standard() -> None:
    assert tensorboard.crc32c(b"123456789") == 0xE3069283  # RFC 3720, appendix B.4


def test_an_unknown_format_is_refused(run: Run) -> None:
    with pytest.raises(Invalid, match="no format"):
        exports.export_of(run=run, format="xlsx")


def test_a_run_without_points_gives_an_empty_table(db: None) -> None:
    assert content(make_run(), "csv").decode().splitlines() == [
        "name,attempt,rank,step,tokens,time_ms,value,superseded"
    ]
    importlib.import_module("pyarrow.parquet").read_table(
        io.BytesIO(content(make_run(), "parquet"))
    )


def test_page_and_api_send_the_same_file(people: People) -> None:
    run = make_run(project=people.project, created_by=people.operator_user)
    ingest.store_batch(attempt=make_attempt(run=run), batch=make_batch(3))
    page = people.viewer.get(f"/runs/{run.pk}/metrics/export/?format=csv&names=train/loss")
    answer = Api(people.operator_user).get(f"runs/{run.pk}/metrics/export", format="csv")
    assert page.getvalue() == answer.getvalue()
    assert page["Content-Disposition"] == f'attachment; filename="run-{run.pk}-metrics.csv"'
    assert people.outsider.get(f"/runs/{run.pk}/metrics/export/").status_code == 404
    assert people.viewer.get(f"/runs/{run.pk}/metrics/export/?format=x").status_code == 422


def scalars(data: bytes) -> Iterator[tuple[str, int, float]]:
    """Yield (tag, step, value) of an event file, as a reader of TensorBoard finds them; checksums are checked."""
    at = 0
    while at < len(data):
        (size,) = struct.unpack_from("<Q", data, at)
        body = data[at + 12 : at + 12 + size]
        (crc,) = struct.unpack_from("<I", data, at + 12 + size)
        assert crc == tensorboard.masked(tensorboard.crc32c(body))
        at += 16 + size
        event = dict(fields(body))
        if 5 in event:
            value = dict(fields(dict(fields(event[5]))[1]))
            yield value[1].decode(), event[2], struct.unpack("<f", value[2])[0]


def fields(data: bytes) -> Iterator[tuple[int, Any]]:
    """Yield (number, value) of one protobuf message."""
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        if key & 7 == 0:
            value, at = varint(data, at)
        else:
            size = {1: 8, 5: 4}.get(key & 7)
            if size is None:
                size, at = varint(data, at)
            value, at = data[at : at + size], at + size
        yield key >> 3, value


def varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 0x7F) << shift
        shift, at = shift + 7, at + 1
        if not byte & 0x80:
            return value, at


def test_a_spreadsheet_computes_no_name_of_a_metric(db: None) -> None:
    attempt = make_attempt(state="running", first_step_at="2026-01-01T00:00Z")
    names = ("=1+1", '@SUM("a",1)', "-loss", "'-loss", "loss-")
    columns = tuple(Column(name, None, np.array([1.0])) for name in names)
    ingest.store_batch(attempt=attempt, batch=make_batch(1, columns=columns))
    text = content(attempt.run, "csv").decode()
    shown = {line["name"] for line in csv.DictReader(io.StringIO(text))}
    assert shown == {"'=1+1", '\'@SUM("a",1)', "'-loss", "''-loss", "loss-"}
    # Who reads the file gets the names as they were logged.
    assert set(query.columns_of(text.splitlines(keepends=True))["name"]) == set(names)


@pytest.mark.parametrize("compacted", [False, True], ids=["tail", "chunks"])
def test_a_step_that_came_twice_in_one_attempt_is_written_twice(db: None, compacted: bool) -> None:
    attempt = make_attempt(state="running", first_step_at="2026-01-01T00:00Z")
    for seq, step in ((1, 1), (4, 2)):
        columns = (Column("loss", None, np.full(3, float(seq))),)
        batch = make_batch(3, first_seq=seq, first_step=step, columns=columns)
        ingest.store_batch(attempt=attempt, batch=batch)
    if compacted:
        metrics.compact_attempt(attempt.pk)
    lines = list(csv.DictReader(io.StringIO(content(attempt.run, "csv").decode())))
    told = [(line["step"], line["value"], line["superseded"]) for line in lines]
    standing = [
        ("1", "1.0", "false"),
        ("2", "4.0", "false"),
        ("3", "4.0", "false"),
        ("4", "4.0", "false"),
    ]
    assert told == [*standing, ("2", "1.0", "true"), ("3", "1.0", "true")]
