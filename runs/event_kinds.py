"""What people call the kinds of events of a timeline."""

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

KINDS: dict[str, Promise] = {
    "alert": _("Alert"),
    "archive": _("Archived"),
    "attempt_requested": _("Attempt requested"),
    "change_reason": _("Reason for the change"),
    "checkpoint": _("Checkpoint"),
    "clock_skew": _("Clock"),
    "cluster": _("Cluster"),
    "command": pgettext_lazy("event", "Command"),
    "contact_lost": _("Contact lost"),
    "contact_regained": _("Contact regained"),
    "created": pgettext_lazy("event", "Created"),
    "delete": _("Deletion asked for"),
    "deleted": pgettext_lazy("event", "Deleted"),
    "drift": _("Drift"),
    "eval": _("Evaluation"),
    "force_stop": _("Forced stop"),
    "keep": _("Kept from deletion"),
    "launch": pgettext_lazy("event", "Launch"),
    "launch_refused": _("Launch refused"),
    "lifecycle": _("Trainer"),
    "message": _("Message"),
    "orphan_ended": _("Leftovers ended"),
    "pause": pgettext_lazy("event", "Pause"),
    "preflight_waived": _("Preflight waived"),
    "reconcile_failed": _("Retry"),
    "reconcile_poison": _("Workers died"),
    "rendezvous": _("Meeting of the nodes"),
    "resume": pgettext_lazy("event", "Resume"),
    "samples": _("Samples"),
    "state": pgettext_lazy("event", "State"),
    "stop": pgettext_lazy("event", "Stop"),
    "unarchive": _("Brought back"),
}


def kind_in_words(kind: str) -> str:
    """Return what people call a kind; one that is not known as it is, with blanks."""
    known = KINDS.get(kind)
    return str(known) if known else kind.replace("_", " ").capitalize()
