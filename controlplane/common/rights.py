"""Who may do what: every act, the least role that may do it, and the scopes of a token that allow it.

Pages, the API and the sockets ask `controlplane.common.access`, which knows nothing but this table; the command line goes
through the API. An act has the name under which the audit trail keeps it. docs/reference/roles.md shows the table.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from controlplane.common.models import Role, Scope


class Level(Enum):
    """Who may do what belongs to no project."""

    PERSON = "person"
    ADMINISTRATOR = "administrator"

    @property
    def label(self) -> Promise:
        """Return the word that people read."""
        return _("administrator of the service") if self is Level.ADMINISTRATOR else _("everybody")


@dataclass(frozen=True)
class Act:
    """One row of the table.

    Attributes:
        name: `noun.verb`, as in the audit trail.
        least: The least role in the project, or the level for what belongs to none.
        scopes: A token needs one of them.
        words: What it is, for people.
    """

    name: str
    least: Role | Level
    scopes: frozenset[Scope]
    words: str | Promise


READ = "project.read"


def acts() -> Iterator[Act]:
    """Yield the table."""
    yield from _reading()
    yield from _planning()
    yield from _training()
    yield from _administering()
    yield from _owning()


def _reading() -> Iterator[Act]:
    yield Act(
        READ,
        Role.VIEWER,
        _any(Scope.READ),
        _("see what is in a project, follow it live, export it"),
    )
    yield Act(
        "audit.read",
        Role.VIEWER,
        _any(Scope.READ),
        _("read and export the audit trail of a project"),
    )
    yield Act("audit.verify", Level.PERSON, _any(Scope.READ), _("have the audit trail verified"))
    yield Act(
        "audit.read_all",
        Level.ADMINISTRATOR,
        _any(Scope.READ),
        _("read what belongs to no project in the trail"),
    )


def _planning() -> Iterator[Act]:
    plan = _any(Scope.PLAN)
    yield Act("card.create", Role.OPERATOR, plan, _("write a card"))
    yield Act("card.update", Role.OPERATOR, plan, _("change a card"))
    yield Act("config.create", Role.OPERATOR, plan, _("store a config"))
    yield Act("config.freeze", Role.OPERATOR, plan, _("freeze a config"))
    yield Act(
        "config.request_approval", Role.OPERATOR, plan, _("ask for the approval of a frozen config")
    )
    yield from _approving()
    yield Act(
        "preflight.request",
        Role.OPERATOR,
        _any(Scope.PLAN, Scope.RUN),
        _("run the checks of a config"),
    )


def _approving() -> Iterator[Act]:
    approve = _any(Scope.APPROVE)
    yield Act("config.approve", Role.APPROVER, approve, _("approve a config as a second person"))
    yield Act("config.reject", Role.APPROVER, approve, _("refuse the approval of a config"))
    yield Act(
        "config.withdraw_approval", Role.APPROVER, approve, _("take back the approval of a config")
    )
    yield Act("rulebook.set", Role.APPROVER, approve, _("set bounds of the rulebook"))
    yield Act(
        "rulebook.reset", Role.APPROVER, approve, _("take the bounds of the rulebook as written")
    )


def _training() -> Iterator[Act]:
    run = _any(Scope.RUN)
    yield Act("run.create", Role.OPERATOR, run, _("plan or fork a run"))
    yield Act("run.change_reason", Role.OPERATOR, run, _("say why a run changes several variables"))
    yield Act("run.waive_preflight", Role.OPERATOR, run, _("waive the preflight of an experiment"))
    yield Act("run.launch", Role.OPERATOR, run, _("launch a run"))
    yield Act("run.stop", Role.OPERATOR, run, _("save and stop a run"))
    yield Act("run.force_stop", Role.OPERATOR, run, _("end a run by force"))
    yield Act("run.pause", Role.OPERATOR, run, _("pause a run"))
    yield Act("run.resume", Role.OPERATOR, run, _("resume a run"))
    yield Act("run.label", Role.OPERATOR, run, _("name, group, tag and annotate a run"))
    yield Act("run.archive", Role.OPERATOR, run, _("archive a run"))
    yield Act("run.unarchive", Role.OPERATOR, run, _("bring an archived run back"))
    yield Act("view.save", Role.VIEWER, run, _("keep a list of runs for yourself"))
    yield Act("view.share", Role.OPERATOR, run, _("share a list of runs with the project"))
    yield Act("attempt.save", Role.OPERATOR, run, _("have a checkpoint saved"))
    yield Act("checkpoint.verify", Role.OPERATOR, run, _("have a checkpoint verified"))
    yield Act("checkpoint.pin", Role.OPERATOR, run, _("pin a checkpoint"))
    yield Act("checkpoint.unpin", Role.OPERATOR, run, _("unpin a checkpoint"))


def _administering() -> Iterator[Act]:
    admin = _any(Scope.ADMIN)
    yield Act("project.create", Level.ADMINISTRATOR, admin, _("make a project"))
    yield Act("project.rename", Role.ADMIN, admin, _("rename a project"))
    yield Act("project.archive", Role.ADMIN, admin, _("archive a project"))
    yield Act("project.restore", Role.ADMIN, admin, _("bring an archived project back"))
    yield Act("run.delete", Role.ADMIN, admin, _("have the metrics and logs of a run deleted"))
    yield Act("run.keep", Role.ADMIN, admin, _("keep a run from being deleted"))
    yield Act("view.remove", Role.ADMIN, admin, _("forget a list that another person shares"))
    yield Act("member.add", Role.ADMIN, admin, _("add a member"))
    yield Act("member.change", Role.ADMIN, admin, _("change the role of a member"))
    yield Act("member.remove", Role.ADMIN, admin, _("remove a member"))
    yield Act("person.read", Level.ADMINISTRATOR, admin, _("list accounts"))
    yield Act("person.create", Level.ADMINISTRATOR, admin, _("make an account"))
    yield Act("person.deactivate", Level.ADMINISTRATOR, admin, _("close an account"))
    yield Act("person.activate", Level.ADMINISTRATOR, admin, _("open an account again"))
    yield Act(
        "person.reset_password", Level.ADMINISTRATOR, admin, _("give an account a new password")
    )
    yield Act("cluster.register", Level.ADMINISTRATOR, admin, _("register a cluster"))
    yield Act(
        "cluster.change",
        Level.ADMINISTRATOR,
        admin,
        _("give a cluster new credentials or settings"),
    )
    yield Act("cluster.test", Level.ADMINISTRATOR, admin, _("have a cluster looked at"))
    yield Act("cluster.remove", Level.ADMINISTRATOR, admin, _("forget a cluster"))


def _owning() -> Iterator[Act]:
    account = _any(Scope.ACCOUNT)
    yield Act("token.read", Level.PERSON, _any(Scope.READ), _("list your tokens"))
    yield Act("token.create", Level.PERSON, account, _("make a token for yourself"))
    yield Act("token.revoke", Level.PERSON, account, _("revoke a token of yours"))
    yield Act("person.sign_in", Level.PERSON, account, _("sign in"))
    yield Act("person.sign_out", Level.PERSON, account, _("sign out"))
    yield Act("person.sign_out_elsewhere", Level.PERSON, account, _("end your other sign-ins"))
    yield Act("person.change_password", Level.PERSON, account, _("change your password"))


def _any(*scopes: Scope) -> frozenset[Scope]:
    return frozenset(scopes)


ACTS = {act.name: act for act in acts()}
# For getters that only know that something is to be changed; the service behind them names the act itself.
CHANGES = {
    "card": "card.update", "config": "config.create", "run": "run.launch", "attempt": "run.launch",
    "preflight report": "preflight.request", "checkpoint": "checkpoint.pin",
}  # fmt: skip
# A role alone stands for the first act that needs it.
_OF_ROLES = {Role.VIEWER: READ, Role.ADMIN: "project.rename"}


def act_of(needed: "str | Role") -> Act:
    """Return the row of an act, or what a bare role stands for.

    Raises:
        KeyError: There is no such act; a mistake of ours.
    """
    if isinstance(needed, str):
        return ACTS[needed]
    if needed in _OF_ROLES:
        return ACTS[_OF_ROLES[needed]]
    scopes = frozenset({Scope.PLAN, Scope.RUN} if needed is Role.OPERATOR else {Scope.APPROVE})
    return Act(f"as {needed.name.lower()}", needed, scopes, _("change what is in a project"))
