"""What people call the acts, objects and facts of the audit trail; the entries themselves keep their stable names."""

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from controlplane.common.rights import ACTS

# Done by the service itself, or a part of another right: no role is asked for these.
_OTHER_ACTS: dict[str, Promise] = {
    "attempt.pause": _("ask the trainer to pause"),
    "attempt.resume": _("ask the trainer to go on"),
    "attempt.save_and_stop": _("ask the trainer to save and stop"),
    "member.follow_groups": _("take a role from the groups of the identity provider"),
    "person.follow_groups": _("take rights from the groups of the identity provider"),
    "run.purge": _("delete the metrics and logs of a run"),
}
NOUNS: dict[str, Promise] = {
    "approval": pgettext_lazy("noun", "approval"),
    "attempt": pgettext_lazy("noun", "attempt"),
    "audit": pgettext_lazy("noun", "audit trail"),
    "auditcheck": pgettext_lazy("noun", "check of the trail"),
    "card": pgettext_lazy("noun", "card"),
    "checkpoint": pgettext_lazy("noun", "checkpoint"),
    "cluster": pgettext_lazy("noun", "cluster"),
    "config": pgettext_lazy("noun", "config"),
    "member": pgettext_lazy("noun", "member"),
    "membership": pgettext_lazy("noun", "membership"),
    "person": pgettext_lazy("noun", "person"),
    "personaltoken": pgettext_lazy("noun", "token"),
    "preflight": pgettext_lazy("noun", "preflight"),
    "preflightreport": pgettext_lazy("noun", "preflight report"),
    "project": pgettext_lazy("noun", "project"),
    "rulebook": pgettext_lazy("noun", "rulebook"),
    "rulebookvalue": pgettext_lazy("noun", "rulebook value"),
    "run": pgettext_lazy("noun", "run"),
    "savedview": pgettext_lazy("noun", "saved view"),
    "token": pgettext_lazy("noun", "token"),
    "user": pgettext_lazy("noun", "account"),
    "view": pgettext_lazy("noun", "view"),
}
FACTS: dict[str, Promise] = {
    "administrator": pgettext_lazy("fact", "administrator"),
    "by": pgettext_lazy("fact", "by"),
    "checkpoint": pgettext_lazy("fact", "checkpoint"),
    "codes": pgettext_lazy("fact", "codes"),
    "config": pgettext_lazy("fact", "config"),
    "expires_at": pgettext_lazy("fact", "ends"),
    "fields": pgettext_lazy("fact", "fields"),
    "findings": pgettext_lazy("fact", "findings"),
    "group": pgettext_lazy("fact", "group"),
    "hash": pgettext_lazy("fact", "digest"),
    "image": pgettext_lazy("fact", "image"),
    "is_shared": pgettext_lazy("fact", "shared"),
    "name": pgettext_lazy("fact", "name"),
    "namespace": pgettext_lazy("fact", "namespace"),
    "new": pgettext_lazy("fact", "new"),
    "notes": pgettext_lazy("fact", "notes"),
    "num": pgettext_lazy("fact", "number"),
    "old": pgettext_lazy("fact", "old"),
    "parent": pgettext_lazy("fact", "parent"),
    "person": pgettext_lazy("fact", "person"),
    "project": pgettext_lazy("fact", "project"),
    "query": pgettext_lazy("fact", "query"),
    "reason": pgettext_lazy("fact", "reason"),
    "report": pgettext_lazy("fact", "report"),
    "role": pgettext_lazy("fact", "role"),
    "rule": pgettext_lazy("fact", "rule"),
    "run": pgettext_lazy("fact", "run"),
    "scopes": pgettext_lazy("fact", "scopes"),
    "slug": pgettext_lazy("fact", "slug"),
    "start": pgettext_lazy("fact", "start"),
    "step": pgettext_lazy("fact", "step"),
    "tags": pgettext_lazy("fact", "tags"),
    "token": pgettext_lazy("fact", "token"),
    "variables": pgettext_lazy("fact", "variables"),
    "way": pgettext_lazy("fact", "way"),
}


def act_in_words(action: str) -> str:
    """Return an act as a line of the trail begins: "Launch a run"; one that is not known as it is."""
    words = ACTS[action].words if action in ACTS else _OTHER_ACTS.get(action)
    text = str(words) if words else action
    return text[:1].upper() + text[1:] if words else text


def noun_in_words(noun: str) -> str:
    """Return what an entry is about, or what a group of acts begins with."""
    return str(NOUNS.get(noun, noun))


def fact_in_words(key: str) -> str:
    """Return the name of a fact beside its value."""
    return str(FACTS.get(key, key.replace("_", " ")))
