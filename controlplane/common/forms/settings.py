"""What people type into the settings: each form reads one input; the services judge it."""

from datetime import UTC, date, datetime, time, timedelta
from typing import Any

from django import forms
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from controlplane.common.errors import SafeholdError
from controlplane.common.models import Project, Role, Scope
from controlplane.common.selectors.audit import Filters

EXPIRIES = (
    (7, _("in 7 days")), (30, _("in 30 days")), (90, _("in 90 days")), (365, _("in a year")), (0, _("never")),
)  # fmt: skip


class Told(forms.Form):
    """A form that can also show what a service said against it."""

    def refuse(self, error: SafeholdError) -> None:
        """Keep the messages of a refusal beside their fields."""
        for path, texts in (error.fields or {"": [error.message]}).items():
            for text in texts:
                self.add_error(path if path in self.fields else None, text)


class ProjectForm(Told):
    name = forms.CharField(label=_("Name"), max_length=80)


class NewProjectForm(ProjectForm):
    slug = forms.CharField(
        label=_("Short name"), max_length=60, required=False,
        help_text=_("In addresses and on the command line; it never changes. Made from the name when empty."),
    )  # fmt: skip


class MemberForm(Told):
    username = forms.CharField(label=_("User name"), max_length=150)
    role = forms.TypedChoiceField(
        label=_("Role"), choices=Role.choices, coerce=lambda value: Role(int(value))
    )


class RoleForm(Told):
    role = forms.TypedChoiceField(choices=Role.choices, coerce=lambda value: Role(int(value)))


class PersonForm(Told):
    username = forms.CharField(label=_("User name"), max_length=150)
    full_name = forms.CharField(label=_("Full name"), max_length=300, required=False)


class PasswordForm(Told):
    old = forms.CharField(label=_("Your password"), strip=False)
    new = forms.CharField(label=_("New password"), strip=False)
    again = forms.CharField(label=_("New password again"), strip=False)

    def clean(self) -> dict[str, Any]:
        given = super().clean() or {}
        if given.get("new") != given.get("again"):
            self.add_error("again", _("The two are not the same."))
        return given


class TokenForm(Told):
    name = forms.CharField(label=_("Name"), max_length=80)
    scopes = forms.MultipleChoiceField(label=_("May"), choices=Scope.choices, required=False)
    project = forms.ModelChoiceField(
        Project.objects.none(), label=_("Project"), required=False, empty_label=_("all of mine")
    )
    days = forms.TypedChoiceField(label=_("Ends"), choices=EXPIRIES, coerce=int, initial=90)

    def __init__(self, *args: Any, projects: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["project"].queryset = projects  # type: ignore[attr-defined]

    def wanted(self) -> dict[str, Any]:
        """Return the arguments of the service."""
        given = self.cleaned_data
        days = given["days"]
        return {
            "name": given["name"], "scopes": given["scopes"], "project": given["project"],
            "expires_at": timezone.now() + timedelta(days=days) if days else None,
        }  # fmt: skip


class AuditForm(forms.Form):
    actor = forms.CharField(max_length=150, required=False)
    action = forms.CharField(max_length=60, required=False)
    object = forms.CharField(max_length=81, required=False)
    since = forms.DateField(required=False)
    until = forms.DateField(required=False)

    def filters(self) -> Filters:
        """Return what was chosen; what cannot be read chooses nothing."""
        self.is_valid()
        given = self.cleaned_data
        kind, _colon, number = (part.strip() for part in given.get("object", "").partition(":"))
        until = given.get("until")  # the whole of this day; after the last of all days comes none
        day_after = until + timedelta(days=1) if until and until < date.max else None
        return Filters(
            actor=given.get("actor", ""), action=given.get("action", ""), object_type=kind, object_id=number,
            since=_midnight(given.get("since")), until=_midnight(day_after),
        )  # fmt: skip


def _midnight(day: Any) -> datetime | None:
    return datetime.combine(day, time.min, UTC) if day else None
