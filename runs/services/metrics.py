"""What others ask of the metric store."""

from runs.metricstore.chart import compare, list_names, read_chart
from runs.metricstore.compaction import compact_attempt

__all__ = ["compact_attempt", "compare", "list_names", "read_chart"]
