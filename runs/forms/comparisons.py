"""What the address of a comparison says: which runs, over what, at which step."""

from django import forms
from django.http import QueryDict

_LONGEST_ID = 18  # digits; more do not fit into the database


class ComparisonForm(forms.Form):
    step = forms.IntegerField(required=False, min_value=0, max_value=2**62)

    def __init__(self, asked: QueryDict) -> None:
        super().__init__(asked)
        self.asked = asked

    @property
    def run_ids(self) -> list[int]:
        """The runs, in their order; what is no number is left out."""
        return numbers(self.asked.getlist("run"))

    @property
    def names(self) -> list[str]:
        """The metrics that are asked for; none: the usual ones."""
        return [name for name in self.asked.getlist("names") if name and "\x00" not in name]

    @property
    def at_step(self) -> int | None:
        """The step to compare at."""
        self.is_valid()
        found: int | None = self.cleaned_data.get("step")
        return found


def numbers(texts: list[str]) -> list[int]:
    """Return the ids among the values of an address."""
    return [int(text) for text in texts if text.isdecimal() and len(text) <= _LONGEST_ID]
