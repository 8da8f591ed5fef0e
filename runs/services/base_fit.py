"""Whether a base checkpoint fits what goes on from it: architecture and tokenizer are kept (CARD-7, TOK-1)."""

from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext as _

from controlplane.common.errors import SafeholdError
from runs.models import Config, Run
from runs.services import resume_points
from safehold.findings import Finding, fail
from safehold.planning import CardFields
from safehold.planning.starting_point import differences


def network_of(checkpoint_id: int, *, project_id: int) -> Mapping[str, Any]:
    """Return the `[network]` of the config that made a checkpoint of the registry.

    Raises:
        NotFound: The project has no such checkpoint.
        Conflict: It is not proved whole.
    """
    network = _document_of(checkpoint_id, project_id).get("network")
    return network if isinstance(network, Mapping) else {}


def unlike_config(config: Config, checkpoint_id: int) -> list[tuple[str, Finding]]:
    """Return, by field, why a run of the config cannot begin with these weights: what the trainer would refuse."""
    try:
        base = _document_of(checkpoint_id, config.project_id)
    except SafeholdError as error:
        return [("base_checkpoint", _not_there(error))]
    found = _unlike_network(config.document.get("network") or {}, base, checkpoint_id)
    own, there = (
        str((one.get("tokenizer") or {}).get("digest") or "") for one in (config.document, base)
    )
    if own and there and own != there:
        told = _differs("tokenizer.digest", own, there, checkpoint_id)
        advice = _("Keep the tokenizer of the base.")
        found.append(("tokenizer.digest", fail(**told, code="TOK-1.base", advice=advice)))
    return found


def unlike_card(fields: CardFields, *, project_id: int) -> list[Finding]:
    """Return why a card cannot go on from the base that it names; nothing where it names none."""
    if not fields.base_checkpoint:
        return []
    try:
        base = _document_of(fields.base_checkpoint, project_id)
    except SafeholdError as error:
        return [_not_there(error)]
    found = _unlike_network(fields.network.model_dump(), base, fields.base_checkpoint)
    return [one for _path, one in found]


def made_by(checkpoint_id: int, *, project_id: int) -> Config | None:
    """Return the config that made a checkpoint, or None where it is not there, not whole, or of no run."""
    try:
        return _config_of(checkpoint_id, project_id)
    except SafeholdError:
        return None


def _document_of(checkpoint_id: int, project_id: int) -> Mapping[str, Any]:
    made_it = _config_of(checkpoint_id, project_id)
    return made_it.document if made_it else {}


def _config_of(checkpoint_id: int, project_id: int) -> Config | None:
    facts = resume_points.find(checkpoint_id, project_id=project_id)
    run = Run.objects.select_related("config").filter(pk=facts["run"]).first()
    return run.config if run else None


def _not_there(error: SafeholdError) -> Finding:
    return fail(error.message, code="CARD-7.base_checkpoint", advice=error.hint)


def _unlike_network(
    network: Mapping[str, Any], base: Mapping[str, Any], checkpoint_id: int
) -> list[tuple[str, Finding]]:
    advice = _("Keep the architecture of the base.")
    return [
        (
            f"network.{name}",
            fail(**_differs(f"network.{name}", own, there, checkpoint_id), code="CARD-7.architecture", advice=advice),
        )
        for name, (own, there) in differences(network, base.get("network") or {}).items()
    ]  # fmt: skip


def _differs(field: str, own: Any, there: Any, checkpoint_id: int) -> dict[str, Any]:
    told = _("%(field)s is %(own)s; the base checkpoint %(id)s has %(there)s.")
    return {
        "message": told % {"field": field, "own": own, "id": checkpoint_id, "there": there},
        "evidence": {"field": field, "here": own, "base": there},
    }
