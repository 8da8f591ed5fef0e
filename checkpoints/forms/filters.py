"""What the address of the table says; anything unreadable is left out, never an error page."""

from django import forms
from django.utils.translation import gettext_lazy as _

from checkpoints.models import Checkpoint
from checkpoints.selectors import Filters
from runs.templatetags.chips import CHECKPOINT, RUN

_STATES = ("writing", "complete", "verified", "stable", "damaged", "failed")
STATES = [("", _("Any state"))] + [
    (name, (CHECKPOINT.get(name) or RUN[name]).word) for name in _STATES
]
KINDS = [
    ("", _("Any kind")),
    (Checkpoint.Kind.ANCHOR, _("Anchors")),
    (Checkpoint.Kind.SNAPSHOT, _("Snapshots")),
]
PINS = [("", _("Pinned or not")), ("yes", _("Pinned")), ("no", _("Not pinned"))]
ORDERS = [
    ("newest", _("Newest first")),
    ("step", _("Highest step")),
    ("size", _("Largest first")),
    ("oldest", _("Oldest first")),
]


class FilterForm(forms.Form):
    run = forms.IntegerField(required=False, min_value=1, max_value=2**63 - 1)
    state = forms.ChoiceField(required=False, choices=STATES)
    kind = forms.ChoiceField(required=False, choices=KINDS)
    pinned = forms.ChoiceField(required=False, choices=PINS)
    order = forms.ChoiceField(required=False, choices=ORDERS)
    cursor = forms.CharField(required=False, max_length=400)

    def filters(self) -> Filters:
        """Return what could be read."""
        self.is_valid()
        read = self.cleaned_data
        return Filters(
            run_id=read.get("run"),
            state=read.get("state") or "",
            kind=read.get("kind") or "",
            is_pinned={"yes": True, "no": False}.get(read.get("pinned") or ""),
            order=read.get("order") or "newest",
            cursor=read.get("cursor") or "",
        )
