"""What others ask of the metric store."""

from runs.metricstore.chart import list_names, read_chart
from runs.metricstore.compaction import compact_attempt
from runs.metricstore.comparing import overlaid, summaries

__all__ = ["compact_attempt", "list_names", "overlaid", "read_chart", "summaries"]
