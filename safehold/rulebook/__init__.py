"""The rulebook: spans of hyper-parameters by stage and size, as data, each with reason and source.

findings = written().judge("learning_rate", Situation(config=config))
"""

from safehold.rulebook.base import Condition, Family, Rule, shown
from safehold.rulebook.book import Rulebook, check_value, with_values, written
from safehold.rulebook.judging import deciding, judge
from safehold.rulebook.quantities import BY_NAME as QUANTITIES
from safehold.rulebook.quantities import Quantity
from safehold.rulebook.situation import Observed, Situation

__all__ = [
    "QUANTITIES",
    "Condition",
    "Family",
    "Observed",
    "Quantity",
    "Rule",
    "Rulebook",
    "Situation",
    "check_value",
    "deciding",
    "judge",
    "shown",
    "with_values",
    "written",
]
