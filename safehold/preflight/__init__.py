"""Preflight: what must hold before a run may start.

facts = gather(config)            # I/O, where the data are
report = run_checks(facts)        # pure; `report.verdict`, `report.findings`
"""

from safehold.preflight.base import Check, Facts, Report, all_checks, check, chosen, run_checks
from safehold.preflight.gathering import facts_of, gather, tokenizer_digest

__all__ = [
    "Check",
    "Facts",
    "Report",
    "all_checks",
    "check",
    "chosen",
    "facts_of",
    "gather",
    "run_checks",
    "tokenizer_digest",
]
