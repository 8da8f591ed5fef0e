"""Reading the chunks of series at one level, but whole where an edge of what is wanted runs through a chunk.

A bucket keeps its smallest and its largest point. With an edge through it, the point that it kept might lie beyond the
edge and hide a spike on this side.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from itertools import groupby
from operator import itemgetter

from runs.metricstore import levels
from runs.metricstore.codec import unpack
from runs.metricstore.curve import Axis
from runs.metricstore.points import Points, joined
from runs.metricstore.sql import rows
from runs.metricstore.window import LEAST, Edges

_CHUNKS = """
SELECT series_id, is_cut, CASE WHEN is_cut THEN raw ELSE {column} END
FROM unnest(%s::bigint[], %s::bigint[], %s::bigint[], %s::bigint[]) AS wanted (id, least, most, cut)
JOIN runs_metricchunk AS chunk
  ON series_id = wanted.id AND max_{x} >= wanted.least AND min_{x} <= wanted.most
CROSS JOIN LATERAL (SELECT min_{x} < wanted.least OR max_{x} > wanted.most
  OR (min_step < wanted.cut AND max_step >= wanted.cut)) AS edge (is_cut)
ORDER BY series_id, number
"""


@dataclass(slots=True)
class Stored:
    """The chunks of one series in their order: whether an edge cuts it, then all its points, else those of the level."""

    chunks: list[tuple[bool, memoryview]] = field(default_factory=list)

    def points(self, edges: Edges, factor: int, columns: Collection[str]) -> Points:
        """Return the points that the level keeps."""
        return joined(list(self._parts(edges, factor, columns)))

    def _parts(self, edges: Edges, factor: int, columns: Collection[str]) -> Iterable[Points]:
        for is_cut, some in groupby(self.chunks, itemgetter(0)):
            stored = [data for _, data in some]
            if not is_cut:
                yield levels.unpacked(stored, factor, columns)
                continue
            for data in stored:
                yield edges.reduced(unpack(data, columns).points, factor)


def read(wanted: Mapping[int, Edges], x: Axis, factor: int) -> dict[int, Stored]:
    """Return the chunks of series, by id, that the edges leave something of."""
    query = _CHUNKS.format(x=x, column="raw" if factor == 1 else f"level_{factor}")
    edges = wanted.values()
    cuts = [LEAST if one.cut is None else one.cut for one in edges]
    found: dict[int, Stored] = defaultdict(Stored)
    least, most = [one.least for one in edges], [one.most for one in edges]
    for series_id, is_cut, data in rows(query, list(wanted), least, most, cuts):
        found[series_id].chunks.append((is_cut, data))
    return found
