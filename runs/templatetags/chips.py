"""A state as word, shape and colour: one table, so that a state looks the same wherever it stands."""

from typing import NamedTuple

from django import template
from django.utils.functional import Promise
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from runs.templatetags.icons import icon

register = template.Library()


class Look(NamedTuple):
    """How a state is told: its word, the shape and the tone."""

    word: Promise
    shape: str
    tone: str


RUN = {
    "draft": Look(_("Draft"), "ring", "idle"),
    "queued": Look(_("Queued"), "ring", "wait"),
    "requested": Look(_("Requested"), "ring", "wait"),
    "submitting": Look(_("Submitting"), "half", "wait"),
    "waiting": Look(_("Waiting"), "ring", "wait"),
    "starting": Look(_("Starting"), "half", "live"),
    "running": Look(_("Running"), "play", "live"),
    "pausing": Look(_("Pausing"), "half", "held"),
    "paused": Look(_("Paused"), "pause", "held"),
    "stopping": Look(_("Stopping"), "half", "idle"),
    "ended": Look(_("Ended"), "stop", "idle"),
    "contact_lost": Look(_("Contact lost"), "question", "wait"),
    "finished": Look(_("Finished"), "check", "good"),
    "stopped": Look(_("Stopped"), "stop", "idle"),
    "failed": Look(_("Failed"), "cross", "bad"),
    "taken_away": Look(_("Taken away"), "warn", "wait"),
    "could_not_start": Look(_("Could not start"), "cross", "bad"),
    "lost": Look(_("Lost"), "question", "bad"),
}
CHECKPOINT = {
    "writing": Look(_("Saving"), "half", "wait"),
    "complete": Look(_("Complete"), "ring", "wait"),
    "verified": Look(_("Verified"), "check", "good"),
    "stable": Look(_("Stable"), "diamond", "good"),
    "damaged": Look(_("Damaged"), "cross", "bad"),
    "deleting": Look(_("Deleting"), "half", "idle"),
    "deleted": Look(_("Deleted"), "stop", "idle"),
}
SEVERITY = {
    "pass": Look(_("Passed"), "check", "good"),
    "info": Look(pgettext_lazy("severity", "Note"), "info", "idle"),
    "warn": Look(_("Warning"), "warn", "wait"),
    "fail": Look(_("Blocks"), "cross", "bad"),
    "unknown": Look(_("Unknown"), "question", "wait"),
    "done": Look(_("Done"), "check", "good"),
}
CLUSTER = {
    "reachable": Look(_("Reachable"), "check", "good"),
    "unreachable": Look(_("Unreachable"), "cross", "bad"),
    "disabled": Look(_("Disabled"), "stop", "idle"),
    "ready": Look(_("Ready"), "check", "good"),
    "not_ready": Look(_("Not ready"), "cross", "bad"),
    "cordoned": Look(_("Takes no pods"), "pause", "wait"),
}
DRIFT = {
    "as_launched": Look(_("As launched"), "check", "good"),
    "differs": Look(_("Differs"), "cross", "bad"),
}
# Of one pod, where no state of a run has the same word.
POD = {
    "pending": Look(_("Pending"), "ring", "wait"),
    "ending": Look(_("Ending"), "half", "idle"),
    "succeeded": Look(_("Succeeded"), "check", "good"),
    "gone": Look(_("Gone"), "stop", "idle"),
}
FIT = {
    "fits": Look(_("Fits"), "check", "good"),
    "tight": Look(_("Tight"), "warn", "wait"),
    "does not fit": Look(_("Does not fit"), "cross", "bad"),
}
# Of a run held against its card, metric by metric; before its end it is only how things stand.
ACCEPTANCE = {
    "accepted": Look(_("Accepted"), "check", "good"),
    "not accepted": Look(_("Not accepted"), "cross", "bad"),
    "not measured": Look(_("Not measured"), "question", "wait"),
    "accepted so far": Look(_("Holds so far"), "half", "live"),
    "not accepted so far": Look(_("Not yet reached"), "half", "idle"),
    "undecided": Look(pgettext_lazy("acceptance", "Open"), "ring", "idle"),
    "as expected": Look(_("As expected"), "check", "good"),
    "far below": Look(_("Far below"), "warn", "wait"),
    "far above": Look(_("Far above"), "warn", "wait"),
}
# Of a config, and of the request for its approval.
APPROVAL = {
    "open": Look(_("Not frozen"), "ring", "idle"),
    "frozen": Look(_("Frozen"), "diamond", "held"),
    "approved": Look(_("Approved"), "check", "good"),
    "rejected": Look(_("Refused"), "cross", "bad"),
    "withdrawn": Look(_("Taken back"), "stop", "idle"),
}
LOOKS: dict[str, Look] = (
    RUN | CHECKPOINT | SEVERITY | CLUSTER | DRIFT | POD | FIT | ACCEPTANCE | APPROVAL
)


@register.simple_tag
def chip(word: str) -> SafeString:
    """Return the chip of a state of a run, attempt, checkpoint, finding or report."""
    look = LOOKS.get(str(word))
    if look is None:
        return format_html('<span class="chip chip-idle">{}</span>', word)
    return format_html(
        '<span class="chip chip-{}" data-state="{}">{}{}</span>',
        look.tone,
        word,
        icon(look.shape),
        look.word,
    )
