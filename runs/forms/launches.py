"""What the launch page asks for."""

from django import forms

from controlplane.common.models import Project
from runs.models import Config
from safehold.config import field_at


def launchers() -> tuple[str, ...]:
    """Return the launchers that a config can name."""
    spec = field_at("compute.launcher")
    return spec.choices if spec is not None else ("local",)


class LaunchForm(forms.Form):
    config = forms.ModelChoiceField(Config.objects.none())
    name = forms.CharField(required=False, max_length=120)
    launcher = forms.ChoiceField(choices=lambda: [(name, name) for name in launchers()])

    def __init__(self, *args: object, project: Project, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)  # type: ignore[arg-type]
        self.fields["config"].queryset = Config.objects.filter(project=project)  # type: ignore[attr-defined]

    def clean_name(self) -> str:
        """Refuse what no log line and no PostgreSQL text can carry."""
        name: str = self.cleaned_data["name"].strip()
        if any(ord(character) < 32 for character in name):
            raise forms.ValidationError("A name has no control characters.")
        return name
