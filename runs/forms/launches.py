"""What the launch page asks for."""

from typing import Any

from django import forms
from django.utils.translation import gettext as _

from controlplane.common.errors import Invalid
from controlplane.common.models import Project
from runs.cluster_table import ClusterRow
from runs.models import Config
from runs.services import base_lines, changes, launch_bases, launcher_choice


def launchers(config: Config | None) -> list[tuple[str, str]]:
    """Return the launchers that a run of this config can have, each with what is known of it now."""
    if config is None:
        return []
    rows = {one.launcher: ClusterRow(one, []) for one in launcher_choice.clusters()}
    texts = {name: f"{row.cluster.name}: {row.summary}" for name, row in rows.items()}
    texts[launcher_choice.LOCAL] = _("local: processes on the machine of the service")
    return [(name, texts[name]) for name in launcher_choice.choices_for(config)]


class WaiverForm(forms.Form):
    waiver = forms.CharField(required=False, max_length=2000)


class LaunchForm(WaiverForm):
    config = forms.ModelChoiceField(Config.objects.none())
    name = forms.CharField(required=False, max_length=200)
    launcher = forms.CharField(required=False, max_length=40)
    reason = forms.CharField(required=False, max_length=2000)
    weights_from = forms.IntegerField(required=False, min_value=1, max_value=2**63 - 1)

    def __init__(self, *args: object, project: Project, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)  # type: ignore[arg-type]
        self.fields["config"].queryset = Config.objects.filter(project=project)  # type: ignore[attr-defined]

    def clean_name(self) -> str:
        """Refuse what no log line and no PostgreSQL text can carry."""
        name: str = self.cleaned_data["name"].strip()
        if any(ord(character) < 32 for character in name):
            raise forms.ValidationError(_("A name has no control characters."))
        return name

    def clean(self) -> dict[str, Any]:
        """Bring launcher and config together, or say which field stands against it."""
        found: dict[str, Any] = super().clean() or {}
        config, asked = found.get("config"), found.get("launcher", "")
        if config is not None:
            try:
                found["launcher"] = launcher_choice.choose(config=config, asked=asked)
            except Invalid as error:
                self.add_error("launcher", f"{error.message} {error.hint}".strip())
            base = self._clean_base(config)
            change = changes.of_new_run(config=config, base=base)
            why = found.get("reason", "").strip() or changes.reason_of_pilot(config)
            if change is not None and change.more_than_one and not why:
                self.add_error("reason", _("Say why more than one variable changes at once."))
        return found

    def _clean_base(self, config: Config) -> int:
        """Say beside the field why these weights cannot be taken, as the launch itself would; return their number."""
        asked = self.cleaned_data.get("weights_from") or 0
        base = asked or base_lines.of_card(config.card)
        if "weights_from" not in self.errors:
            for field, text in launch_bases.faults(config=config, base=base, is_asked=bool(asked)):
                self.add_error(None if field == "card" else field, text)
        return base
