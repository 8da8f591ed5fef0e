"""How often a node fails: learned from the cluster where it has run long enough to say, else as reported."""

from dataclasses import dataclass
from math import inf

# About 5 failures per 1,000 node-days: between RSC-1 (6.50) and RSC-2 (2.34), Kokolis et al. 2025, arXiv 2410.21680.
DEFAULT_PER_NODE_DAY = 5 / 1000
# How much the reported rate counts beside what was seen: one failure's worth at that rate. A fresh cluster without a
# failure in a day is not taken for one that never fails; after some thousand node-days only its own count is left.
PRIOR_NODE_DAYS = 200.0
LEAST_NODE_DAYS = 1.0  # what was watched for less says nothing
DEFAULT_RESTART_SECONDS = 600.0  # within the 5 to 20 minutes that the same paper reports
SECONDS_A_DAY = 86_400.0


@dataclass(frozen=True, kw_only=True)
class FailureRate:
    """Failures of a node in a day, and what that rests on.

    Attributes:
        source: `stated`: somebody wrote it down; `learned`: from attempts; `default`: as reported elsewhere.
        num_failures: Seen.
        node_days: Watched.
    """

    per_node_day: float
    source: str = "default"
    num_failures: int = 0
    node_days: float = 0

    def between_failures_seconds(self, nodes: float) -> float:
        """Return the mean time between failures of a run on so many nodes."""
        rate = nodes * self.per_node_day
        return SECONDS_A_DAY / rate if rate else inf


REPORTED = FailureRate(per_node_day=DEFAULT_PER_NODE_DAY)


def learned_rate(*, num_failures: int, node_days: float) -> FailureRate:
    """Return the rate of a cluster from what it has shown.

    The mean of a gamma distribution that begins at the reported rate and is corrected by what was seen, so few
    node-days move it little and many move it all the way.
    """
    if node_days < LEAST_NODE_DAYS:
        return REPORTED
    weight = PRIOR_NODE_DAYS * DEFAULT_PER_NODE_DAY
    return FailureRate(
        per_node_day=(num_failures + weight) / (node_days + PRIOR_NODE_DAYS),
        source="learned",
        num_failures=num_failures,
        node_days=node_days,
    )


def stated_rate(per_1000_node_days: float) -> FailureRate:
    """Return the rate that somebody wrote down."""
    return FailureRate(per_node_day=per_1000_node_days / 1000, source="stated")
