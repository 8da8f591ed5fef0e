"""The form of a fork."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from checkpoints.models import Checkpoint
from runs.models import Config

_MOST_CONFIGS = 200


class ForkForm(forms.Form):
    name = forms.CharField(label=_("Name of the new run"), max_length=200, required=False)
    config = forms.ModelChoiceField(queryset=Config.objects.none(), label=_("Config"))
    launch = forms.BooleanField(label=_("Launch it now"), required=False)

    def __init__(self, *args: Any, checkpoint: Checkpoint, **kwargs: Any) -> None:
        run = checkpoint.run
        step = f"{checkpoint.step:,}"
        first = {"name": f"{run.name} from {step}"[:200], "config": run.config_id, "launch": True}
        super().__init__(*args, **{"initial": first, **kwargs})
        configs = Config.objects.filter(project_id=run.project_id)
        self.fields["config"].queryset = configs  # type: ignore[attr-defined]
        # The choices a page shows; any config of the project is taken.
        newest = configs.exclude(pk=run.config_id)[:_MOST_CONFIGS]
        self.config_choices = [run.config, *newest]
