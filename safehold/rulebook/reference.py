"""The page docs/reference/rulebook.md, written from the rules.

python -m safehold.rulebook.reference > docs/reference/rulebook.md
"""

import sys
from collections.abc import Iterator

from safehold.rulebook.base import Family, Rule
from safehold.rulebook.book import written
from safehold.rulebook.quantities import BY_NAME

HEAD = """\
# The rulebook

Written from the rules by `python -m safehold.rulebook.reference`; a test compares.

A rule is the span of one quantity, with where it holds, why, and who says so. Rules of one topic compete: of those
whose conditions hold the most specific one decides. More conditions (a stage, a size, any other) are more specific
than fewer; of equally many, how it is trained (schedule, method, precision) says more than the size, and the size more
than the length of the run; then the narrower one. A value outside is a warning with the span in its message; what
cannot work is a failure. Where the size of a network is not known, the rules by size say `unknown`.

The bounds are settings: a project sets its own under *Settings, Rulebook values*, with a reason, and each change is in
the audit trail. `safehold rulebook list` shows those in force. A finding names its rule, and whether the span was set
by the project. N is the number of parameters.
"""


def page() -> str:
    """Return the text of the page."""
    return "\n".join([HEAD, *(_family(one) for one in written().families)])


def _family(family: Family) -> str:
    head = [f"## {family.title}", "", f"Check `{family.code}`.", ""]
    return "\n".join([*head, *(line for rule in family.rules for line in _rule(rule))])


def _rule(rule: Rule) -> Iterator[str]:
    quantity = BY_NAME[rule.quantity]
    unit = f" {quantity.unit}" if quantity.unit else ""
    yield f"### `{rule.id}`"
    yield ""
    yield "| quantity | field | holds for | span | outside |"
    yield "|---|---|---|---|---|"
    yield f"| {rule.quantity} | `{quantity.field}` | {rule.where} | {rule.span}{unit} | {rule.outside} |"
    yield ""
    for text in (rule.reason, rule.below, rule.above, rule.advice):
        if text:
            yield text
    yield ""
    yield f"Source: {rule.source}."
    yield ""


if __name__ == "__main__":
    sys.stdout.write(page())
