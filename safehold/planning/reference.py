"""The page docs/reference/card.md, written from the schema.

python -m safehold.planning.reference > docs/reference/card.md
"""

import sys

from safehold.config import fields_of
from safehold.config.reference import rules, sections
from safehold.planning.card import CardFields
from safehold.planning.card_rules import RULES
from safehold.planning.stages import STAGES

HEAD = """\
# The experiment card

Written from the schema by `python -m safehold.planning.reference`; a test compares.

A card says what a training is for before it costs anything. It has a `name`, a `question`, a `stage`, and the fields
below; as TOML, YAML 1.2 or JSON for `safehold card create FILE`, below `data` in the API. Nothing is required, since a
card is filled in over days: 0 and `""` say "not yet known". No run of a card starts before its four agreements are
filled in: `task_form`, `data.tokens`, `compute.devices` and `acceptance`; for every stage but pretraining
`base_checkpoint` too. A run begins with the weights of that base, and with nothing else of it
([how to go on from a base checkpoint](../how-to/go-on-from-a-base-checkpoint.md)). [Planning](../explanation/planning.md) says what is reckoned from the fields, and how.

An acceptance metric has `metric`, `split` (default `validation`), `comparator` (`<=`, `<`, `>=`, `>`; default `<=`) and
`threshold`. `run.log_eval(metric, split, value)` logs it; `val`, `valid` and `eval` are read as `validation` too. The
newest value that no later attempt did over decides, and what is not a finite number is not accepted.
"""


def page() -> str:
    """Return the text of the page."""
    tables = sections(CardFields, fields_of(CardFields))
    return "\n".join([HEAD, *tables, rules(RULES), *_stages()])


def _stages() -> list[str]:
    head = ["## Stages", "", "| stage | one sample | done when |", "|---|---|---|"]
    rows = [f"| {name} | {one.data_form} | {one.converged} |" for name, one in STAGES.items()]
    return ["\n".join([*head, *rows, ""])]


if __name__ == "__main__":
    sys.stdout.write(page())
