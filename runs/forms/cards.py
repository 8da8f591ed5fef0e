"""The form of an experiment card: its own columns, and the typed fields of `safehold.planning`."""

from collections.abc import Mapping
from copy import deepcopy
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from controlplane.common.errors import Invalid
from runs.forms import document
from safehold.config import ConfigError, ConfigInvalid, FieldSpec, fields_of
from safehold.planning import CardFields, parse_card
from safehold.planning.card import usable_part
from safehold.planning.stages import defaults_of

STAGES = [
    ("pretrain", _("Pretraining")),
    ("continued", _("Continued pretraining")),
    ("sft", _("Supervised fine-tuning")),
    ("preference", _("Preference training")),
]
SPECS: tuple[FieldSpec, ...] = fields_of(CardFields)


class CardForm(forms.Form):
    name = forms.CharField(max_length=200)
    question = forms.CharField(required=False, max_length=4000)
    stage = forms.ChoiceField(choices=STAGES)
    reason = forms.CharField(required=False, max_length=400)
    seen_at = forms.DateTimeField(required=False)


class TypedCard:
    """What was typed into the page of a card: parsed as far as it can be, with every fault by its field.

    Attributes:
        fields: What can be used; a field at fault has its default, so that the rest is reckoned all the same.
    """

    def __init__(self, typed: Mapping[str, str]) -> None:
        self.form = CardForm(typed)
        self.document = document.document_of(SPECS, typed)
        self.faults: list[document.Fault] = []
        try:
            self.fields = parse_card(self.document)
        except ConfigInvalid as invalid:
            self.faults = list(invalid.errors)
            self.fields = usable_part(self.document, [fault.path for fault in self.faults])

    @property
    def stage(self) -> str:
        """The stage that is chosen."""
        return str(self.form.data.get("stage") or STAGES[0][0])

    @property
    def is_valid(self) -> bool:
        """Whether it can be kept as it stands."""
        return self.form.is_valid() and not self.faults

    def refuse(self, error: Invalid) -> None:
        """Put what a service refused beside its fields."""
        for path, texts in error.fields.items():
            if path in self.form.fields:
                self.form.add_error(path, texts)
            else:
                self.faults += [ConfigError(path, text) for text in texts]

    def sections(self) -> list[document.BoundSection]:
        """Return the form as it was typed."""
        return document.sections(
            SPECS, without_unknown(self.document), self.faults, typed=self.form.data
        )


def sections_of(data: Mapping[str, Any]) -> list[document.BoundSection]:
    """Return the form of a stored card."""
    return document.sections(SPECS, without_unknown(data))


def starting_data(stage: str) -> dict[str, Any]:
    """Return what a new card of a stage begins with."""
    return deepcopy(dict(defaults_of(stage).fields))


def without_unknown(data: Mapping[str, Any]) -> dict[str, Any]:
    """Leave out what is not known yet (0 or empty), so that its field stands empty."""
    kept: dict[str, Any] = {}
    for name, value in data.items():
        if isinstance(value, Mapping):
            kept[name] = without_unknown(value)
        elif value not in (0, "", None) or isinstance(value, bool):
            kept[name] = value
    return kept
