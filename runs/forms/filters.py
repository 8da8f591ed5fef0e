"""What the address of a list says; anything unreadable is left out, never an error page."""

from django import forms
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from runs.run_table import RunFilters

STATES = [
    ("", _("Any state")),
    ("active", pgettext_lazy("runs", "Active")),
    ("failed", _("Failed")),
    ("finished", _("Finished")),
    ("stopped", _("Stopped")),
    ("draft", _("Never launched")),
]
ORDERS = [
    ("newest", _("Newest first")),
    ("activity", _("Latest activity")),
    ("state", _("By state")),
    ("name", _("By name")),
    ("loss", _("Lowest loss")),
    ("step", _("Most steps")),
    ("oldest", _("Oldest first")),
]
SHELVES = [("", _("Not archived")), ("archived", _("Archived")), ("all", _("All"))]


class RunFilterForm(forms.Form):
    q = forms.CharField(required=False, max_length=200)
    state = forms.ChoiceField(required=False, choices=STATES)
    owner = forms.CharField(required=False, max_length=150)
    group = forms.CharField(required=False, max_length=120)
    tag = forms.CharField(required=False, max_length=40)
    shelf = forms.ChoiceField(required=False, choices=SHELVES)
    card = forms.IntegerField(required=False)
    config = forms.IntegerField(required=False)
    order = forms.ChoiceField(required=False, choices=ORDERS)
    cursor = forms.CharField(required=False, max_length=400)

    def filters(self) -> RunFilters:
        """Return what could be read."""
        self.is_valid()
        read = self.cleaned_data
        return RunFilters(
            text=(read.get("q") or "").strip().replace("\x00", ""),
            state=read.get("state") or "",
            owner=read.get("owner") or "",
            group=read.get("group") or "",
            tag=(read.get("tag") or "").replace("\x00", ""),
            shelf=read.get("shelf") or "",
            card_id=read.get("card"),
            config_id=read.get("config"),
            order=read.get("order") or "newest",
            cursor=read.get("cursor") or "",
        )
