"""The rules of a project as a table: for the settings page and the API."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby

from django.utils.translation import gettext as _

from controlplane.common.errors import NotFound
from runs.models import RulebookValue
from runs.services import rulebook
from safehold.rulebook import QUANTITIES, Family, Quantity, Rule, written


@dataclass(frozen=True)
class Row:
    """One rule.

    Attributes:
        rule: As it is in force.
        written: As it is written.
        own: The project's own bounds, if it set any.
    """

    family: Family
    rule: Rule
    written: Rule
    quantity: Quantity
    own: RulebookValue | None

    @property
    def version(self) -> str:
        """Of the project's own bounds, for a change that is written over them."""
        return rulebook.version_of(self.own)

    @property
    def low_text(self) -> str:
        """The lower bound as it stands in its field; empty: none."""
        return _text(self.rule.low)

    @property
    def high_text(self) -> str:
        """The upper bound as it stands in its field; empty: none."""
        return _text(self.rule.high)


def rows(project_id: int) -> list[Row]:
    """Return every rule of a project, by family."""
    return list(_rows(project_id))


def row(project_id: int, rule_id: str) -> Row:
    """Return one.

    Raises:
        NotFound: There is no such rule.
    """
    for one in _rows(project_id):
        if one.rule.id == rule_id:
            return one
    raise NotFound(_("There is no rule %(rule)s.") % {"rule": rule_id})


def by_family(project_id: int) -> list[tuple[Family, list[Row]]]:
    """Return the rules of a project under their families."""
    groups = groupby(_rows(project_id), key=lambda one: one.family.name)
    found = [list(group) for _name, group in groups]
    return [(group[0].family, group) for group in found]


def _text(bound: float | None) -> str:
    """Return every digit: what is sent back unchanged stays what it was."""
    if bound is None:
        return ""
    short = f"{bound:g}"
    return short if float(short) == bound else repr(bound)


def _rows(project_id: int) -> Iterator[Row]:
    values = RulebookValue.objects.filter(project_id=project_id).select_related("set_by")
    own = {value.rule: value for value in values}
    book = rulebook.in_force(project_id)
    for family in written().families:
        in_force = book.rules_of(family.name)
        for rule, as_written in zip(in_force, family.rules, strict=True):
            yield Row(family, rule, as_written, QUANTITIES[rule.quantity], own.get(rule.id))
