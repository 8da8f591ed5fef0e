"""Parquet, where pyarrow is installed: the same columns as the CSV, typed and compressed."""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from controlplane.common.errors import SafeholdError
from runs.metricstore.whole import Block


class NoParquet(SafeholdError):
    """The service has no library that writes Parquet."""

    code = "no-parquet"
    http_status = 501


class _Sink:
    """Where the writer puts its bytes until they are taken."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self.closed = False

    def write(self, data: Any) -> int:
        """Keep bytes."""
        self._parts.append(bytes(data))
        return len(self._parts[-1])

    def flush(self) -> None:
        """Nothing waits here."""

    def close(self) -> None:
        """Say that all is written."""
        self.closed = True

    def take(self) -> bytes:
        """Return what was written since the last time."""
        parts, self._parts = self._parts, []
        return b"".join(parts)


def written(blocks: Iterable[Block]) -> Iterator[bytes]:
    """Return the parts of the file; a row group is one block.

    Raises:
        NoParquet: pyarrow is not installed.
    """
    try:
        arrow, parquet = (
            importlib.import_module("pyarrow"),
            importlib.import_module("pyarrow.parquet"),
        )
    except ModuleNotFoundError as error:
        raise NoParquet(
            "Parquet needs the package pyarrow, which this service does not have.",
            hint="Export CSV, or install safehold[parquet] where the service runs.",
        ) from error
    return _parts(blocks, arrow, parquet)


def _parts(blocks: Iterable[Block], arrow: Any, parquet: Any) -> Iterator[bytes]:
    sink, schema = _Sink(), _schema(arrow)
    with parquet.ParquetWriter(
        arrow.PythonFile(sink, mode="w"), schema, compression="zstd"
    ) as writer:
        for block in blocks:
            writer.write_table(_table(block, arrow, schema))
            yield sink.take()
    yield sink.take()


def _schema(arrow: Any) -> Any:
    text = arrow.dictionary(arrow.int32(), arrow.string())
    return arrow.schema(
        [
            ("name", text),
            ("attempt", arrow.int32()),
            ("rank", arrow.int32()),
            ("step", arrow.int64()),
            ("tokens", arrow.int64()),
            ("time_ms", arrow.int64()),
            ("value", arrow.float64()),
            ("superseded", arrow.bool_()),
        ]
    )


def _table(block: Block, arrow: Any, schema: Any) -> Any:
    points, n = block.points, block.points.size
    columns = [
        arrow.DictionaryArray.from_arrays(np.zeros(n, np.int32), [block.name]),
        arrow.array(np.full(n, block.attempt, np.int32)),
        arrow.array(np.full(n, block.rank, np.int32)),
        arrow.array(points.steps),
        arrow.array(points.tokens, mask=points.tokens < 0),
        arrow.array(points.times),
        arrow.array(points.values),
        arrow.array(np.full(n, block.is_superseded)),
    ]
    return arrow.Table.from_arrays(columns, schema=schema)
