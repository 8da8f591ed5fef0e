"""Which formats there are, and the file that one makes."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass

from controlplane.common.errors import Invalid
from runs.exports import csv, parquet, tensorboard
from runs.metricstore.whole import Block, blocks
from runs.models import Run


@dataclass(frozen=True)
class Format:
    """One format.

    Attributes:
        ending: Of the file's name.
        write: From blocks to the bytes of the file, part by part.
        live_only: Whether it leaves out what a later attempt did over.
    """

    ending: str
    content_type: str
    write: Callable[[Iterable[Block]], Iterator[bytes]]
    live_only: bool = False


@dataclass(frozen=True)
class Export:
    """A file that is written while it is read."""

    file_name: str
    content_type: str
    parts: Iterator[bytes]


FORMATS = {
    "csv": Format("csv", "text/csv; charset=utf-8", csv.written),
    "parquet": Format("parquet", "application/vnd.apache.parquet", parquet.written),
    "tensorboard": Format(
        "tfevents", "application/octet-stream", tensorboard.written, live_only=True
    ),
}


def export_of(*, run: Run, format: str, names: Collection[str] = ()) -> Export:
    """Return all metrics of a run, or those named, as a file; nothing is read before the first part is asked for.

    Raises:
        Invalid: There is no such format.
        NoParquet: Parquet is asked for and pyarrow is not installed.
    """
    chosen = FORMATS.get(format)
    if chosen is None:
        known = ", ".join(FORMATS)
        raise Invalid(f"There is no format {format!r}.", fields={"format": [f"One of: {known}."]})
    found = blocks(run=run, names=names, live_only=chosen.live_only)
    name = f"run-{run.pk}-metrics.{chosen.ending}"
    if chosen.ending == "tfevents":  # TensorBoard looks for this word in a file's name
        name = f"events.out.tfevents.{int(run.created_at.timestamp())}.safehold-run-{run.pk}"
    return Export(name, chosen.content_type, chosen.write(found))
