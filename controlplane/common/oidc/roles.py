"""Which groups of the identity provider give which role: read from one setting, without I/O."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from controlplane.common.models import Role

ADMINISTRATOR = "administrator"


@dataclass(frozen=True)
class Grants:
    """What somebody has by groups.

    Attributes:
        roles: Slug of a project -> role.
        is_administrator: Of the service.
    """

    roles: Mapping[str, Role] = field(default_factory=dict)
    is_administrator: bool = False


@dataclass(frozen=True)
class Rule:
    """One entry of the setting: a group and what it gives."""

    group: str
    project: str
    role: Role | None  # None: administrator of the service


def parse(text: str) -> list[Rule]:
    """Read `GROUP=PROJECT:ROLE` and `GROUP=administrator`, separated by commas.

    Raises:
        ValueError: An entry is none of these; the message names it.
    """
    return [_rule(entry.strip()) for entry in text.split(",") if entry.strip()]


def granted(groups: Iterable[str], rules: Iterable[Rule]) -> Grants:
    """Return what the groups give; of several roles in a project the highest."""
    held = set(groups)
    roles: dict[str, Role] = {}
    is_administrator = False
    for rule in rules:
        if rule.group not in held:
            continue
        if rule.role is None:
            is_administrator = True
        else:
            roles[rule.project] = max(rule.role, roles.get(rule.project, rule.role))
    return Grants(roles, is_administrator)


def groups_in(claims: Mapping[str, Any], claim: str) -> list[str]:
    """Return the groups that a claim names; `realm_access.roles` looks inside.

    A provider sends a list, or a text for a single group; anything else counts as none.
    """
    value: Any = claims
    for part in claim.split("."):
        value = value.get(part) if isinstance(value, Mapping) else None
    if isinstance(value, str):
        return [value]
    return [one for one in value if isinstance(one, str)] if isinstance(value, list) else []


def _rule(entry: str) -> Rule:
    group, equals, target = (part.strip() for part in entry.rpartition("="))
    if equals and group and target == ADMINISTRATOR:
        return Rule(group, "", None)
    project, colon, role = target.partition(":")
    known = {one.name.lower(): one for one in Role}
    if not (equals and group and colon and project and role in known):
        raise ValueError(
            f"{entry!r} is neither GROUP=PROJECT:ROLE, with a role of {', '.join(known)}, nor GROUP={ADMINISTRATOR}."
        )
    return Rule(group, project, known[role])
