"""The gate of a card: no run of it starts before its agreements are filled in (CARD-3), whatever the path."""

from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from controlplane.common.errors import Invalid
from runs.models import Card, Config
from runs.services import base_fit
from safehold.findings import Finding, fail
from safehold.planning import missing_agreements, read_kept
from safehold.planning.stages import defaults_of

_LACKING = {
    "task_form": gettext_noop("It lacks the task form."),
    "data.tokens": gettext_noop("It lacks the usable tokens."),
    "compute.devices": gettext_noop("It lacks the compute."),
    "acceptance": gettext_noop("It lacks the acceptance metrics."),
    "base_checkpoint": gettext_noop("It lacks the base checkpoint."),
}


def require(*, card: Card | None, config: Config, base: int | None = 0) -> None:
    """Pass, or say what the card still lacks; a run without a card has agreed on nothing and is not held.

    Args:
        card: Of the run.
        config: That would run.
        base: Checkpoint whose weights it would begin with; 0: that of the card, if any; None: it goes on from a whole state,
            whatever became of the base.

    Raises:
        Invalid: `findings` and `fields` name what is missing.
    """
    found = findings(card=card, config=config, base=base)
    if not found:
        return
    told = (
        _("No run of the card %(name)s can start: %(why)s")
        if card
        else _("No run of the config %(name)s can start: %(why)s")
    )
    raise Invalid(
        told % {"name": card.name if card else config.name, "why": found[0][1].message},
        code="agreements-missing",
        hint=found[0][1].advice,
        fields={path: [one.message] for path, one in found},
        extra={
            "card": card.pk if card else None,
            "findings": [one.to_dict() for _path, one in found],
        },
    )


def findings(
    *, card: Card | None, config: Config, base: int | None = 0
) -> list[tuple[str, Finding]]:
    """Return what stands against a start, each with the field of the card or config that it is about."""
    if card is None:
        return base_fit.unlike_config(config, base) if base else []
    fields = read_kept(card.data)
    missing = [(path, _missing(path, card)) for path in missing_agreements(fields)]
    named = base or fields.base_checkpoint
    if named and base is not None:
        return [*missing, *base_fit.unlike_config(config, named)]
    if not named and defaults_of(card.stage).needs_base:
        return [*missing, ("base_checkpoint", _missing("base_checkpoint", card))]
    return missing


def words_of(path: str) -> str:
    """Return the sentence with which the gate names what a card lacks."""
    return _(_LACKING[path])


def _missing(path: str, card: Card) -> Finding:
    return fail(
        words_of(path),
        code="CARD-7.base_checkpoint" if path == "base_checkpoint" else "CARD-3.agreements",
        evidence={"field": path},
        advice=_("Fill it in on card #%(id)s, %(name)s.") % {"id": card.pk, "name": card.name},
    )
