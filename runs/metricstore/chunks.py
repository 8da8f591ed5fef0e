"""Reading the chunks of series at one level, but whole where that would hide something.

A bucket keeps its smallest and its largest point. With an edge of what is wanted through it, the point that it kept might
lie beyond the edge and hide a spike on this side; and where steps came a second time, it might be one that was replaced.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from runs.metricstore import levels
from runs.metricstore.codec import unpack
from runs.metricstore.curve import Axis
from runs.metricstore.points import Points, joined
from runs.metricstore.sql import rows
from runs.metricstore.window import LEAST, MOST, Edges

_CHUNKS = """
SELECT series_id, is_cut, CASE WHEN is_cut THEN whole ELSE level END FROM (
  SELECT series_id, number, raw AS whole, {column} AS level,
    min_{x} < wanted.least OR max_{x} > wanted.most
    OR (min_step < wanted.cut AND max_step >= wanted.cut) OR max_step >= wanted.tail
    OR coalesce(min_step <= max(max_step) OVER before, false)
    OR coalesce(max_step >= min(min_step) OVER behind, false) AS is_cut
  FROM unnest(%s::bigint[], %s::bigint[], %s::bigint[], %s::bigint[], %s::bigint[])
    AS wanted (id, least, most, cut, tail)
  JOIN runs_metricchunk AS chunk
    ON series_id = wanted.id AND max_{x} >= wanted.least AND min_{x} <= wanted.most
  WINDOW before AS (PARTITION BY series_id ORDER BY number ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING),
    behind AS (PARTITION BY series_id ORDER BY number ROWS BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING)
) AS chunks ORDER BY series_id, number
"""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is wanted of a series: edges, and the first step of its batches that are not compacted yet."""

    edges: Edges
    tail: int = MOST


@dataclass(slots=True)
class Stored:
    """The chunks of one series in their order: of some the level alone, of the others every point."""

    level: list[memoryview] = field(default_factory=list)
    whole: list[memoryview] = field(default_factory=list)

    def points(
        self, tail: Sequence[Points], edges: Edges, factor: int, columns: Collection[str]
    ) -> Points:
        """Return the points that the level keeps of chunks and tail, by rising step."""
        whole = [unpack(data, columns).points for data in self.whole]
        kept = edges.reduced(joined([*whole, *tail]), factor)
        level = levels.unpacked(self.level, factor, columns)
        return joined([level, kept]).sorted_by_step()


def read(wanted: Mapping[int, Wanted], x: Axis, factor: int) -> dict[int, Stored]:
    """Return the chunks of series, by id, that the edges leave something of."""
    query = _CHUNKS.format(x=x, column="raw" if factor == 1 else f"level_{factor}")
    edges = [one.edges for one in wanted.values()]
    ends = [one.least for one in edges], [one.most for one in edges]
    cuts = [LEAST if one.cut is None else one.cut for one in edges]
    found: dict[int, Stored] = defaultdict(Stored)
    tails = [one.tail for one in wanted.values()]
    for series_id, is_cut, data in rows(query, list(wanted), *ends, cuts, tails):
        (found[series_id].whole if is_cut else found[series_id].level).append(data)
    return found
