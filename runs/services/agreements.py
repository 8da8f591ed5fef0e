"""The gate of a card: no run of it starts before its agreements are filled in (CARD-3), whatever the path."""

from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from controlplane.common.errors import Invalid, SafeholdError
from runs.models import Card, Config, Run
from runs.services import resume_points
from safehold.findings import Finding, fail
from safehold.planning import missing_agreements, read_kept
from safehold.planning.stages import defaults_of
from safehold.planning.starting_point import differences

_LACKING = {
    "task_form": gettext_noop("It lacks the task form."),
    "data.tokens": gettext_noop("It lacks the usable tokens."),
    "compute.devices": gettext_noop("It lacks the compute."),
    "acceptance": gettext_noop("It lacks the acceptance metrics."),
    "base_checkpoint": gettext_noop("It lacks the base checkpoint."),
}


def require(*, card: Card | None, config: Config) -> None:
    """Pass, or say what the card still lacks; a run without a card has agreed on nothing and is not held.

    Args:
        card: Of the run.
        config: That would run.

    Raises:
        Invalid: `findings` and `fields` name what is missing.
    """
    found = findings(card=card, config=config)
    if card is None or not found:
        return
    raise Invalid(
        _("No run of the card %(card)s can start: %(why)s")
        % {"card": card.name, "why": found[0][1].message},
        code="agreements-missing",
        hint=found[0][1].advice,
        fields={path: [one.message] for path, one in found},
        extra={"card": card.pk, "findings": [one.to_dict() for _path, one in found]},
    )


def findings(*, card: Card | None, config: Config) -> list[tuple[str, Finding]]:
    """Return what stands against a start, each with the field of the card or config that it is about."""
    if card is None:
        return []
    fields = read_kept(card.data)
    missing = [(path, _missing(path)) for path in missing_agreements(fields)]
    if not defaults_of(card.stage).needs_base:
        return missing
    if not fields.base_checkpoint:
        return [*missing, ("base_checkpoint", _missing("base_checkpoint"))]
    return [*missing, *_other_architecture(card, config, fields.base_checkpoint)]


def base_network(checkpoint_id: int, *, project_id: int) -> Mapping[str, Any]:
    """Return the `[network]` of the config that made a checkpoint of the registry.

    Raises:
        NotFound: The project has no such checkpoint.
        Conflict: It is not proved whole.
    """
    facts = resume_points.find(checkpoint_id, project_id=project_id)
    made_by = Run.objects.select_related("config").filter(pk=facts["run"]).first()
    network = made_by.config.document.get("network") if made_by else None
    return network if isinstance(network, Mapping) else {}


def _missing(path: str) -> Finding:
    return fail(
        _(_LACKING[path]),
        code="CARD-7.base_checkpoint" if path == "base_checkpoint" else "CARD-3.agreements",
        evidence={"field": path},
        advice=_("Fill it in on the card."),
    )


def _other_architecture(
    card: Card, config: Config, checkpoint_id: int
) -> list[tuple[str, Finding]]:
    try:
        base = base_network(checkpoint_id, project_id=card.project_id)
    except SafeholdError as error:
        told = fail(error.message, code="CARD-7.base_checkpoint", advice=error.hint)
        return [("base_checkpoint", told)]
    here = config.document.get("network") or {}
    return [
        (
            f"network.{name}",
            fail(
                _("%(field)s of the config is %(own)s; the base checkpoint %(id)s has %(there)s.")
                % {"field": f"network.{name}", "own": own, "id": checkpoint_id, "there": there},
                code="CARD-7.architecture",
                evidence={"field": f"network.{name}", "config": own, "base": there},
                advice=_("Keep the architecture of the base."),
            ),
        )
        for name, (own, there) in differences(here, base).items()
    ]
