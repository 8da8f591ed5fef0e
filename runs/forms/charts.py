"""The question a chart asks: which metrics, over what, between where."""

from typing import Any

from django import forms
from django.http import QueryDict


class ChartForm(forms.Form):
    x = forms.ChoiceField(required=False, choices=[("tokens", ""), ("step", ""), ("time", "")])
    points = forms.IntegerField(required=False, min_value=10, max_value=20_000)

    def __init__(self, asked: QueryDict) -> None:
        super().__init__(asked)
        self.asked = asked

    def question(self) -> dict[str, Any]:
        """Return the arguments of `read_chart`; what cannot be read takes its default."""
        self.is_valid()
        return {
            "names": [name for name in self.asked.getlist("names") if "\x00" not in name],
            "x": self.cleaned_data.get("x") or "tokens",
            "start": _whole(self.asked.get("from")),
            "end": _whole(self.asked.get("to")),
            "points": self.cleaned_data.get("points") or 1000,
        }


def _whole(text: str | None) -> int | None:
    try:
        return int(text) if text else None
    except ValueError:
        return None
