"""What the first attempt of a run begins with: a fork its checkpoint, others the weights of their base (CARD-7)."""

from typing import Any

from django.utils.translation import gettext as _

from controlplane.common.errors import Conflict
from runs import starts
from runs.models import Card, Config, Run
from runs.services import base_approval, resume_points
from runs.services.base_lines import of_card


def start_of(*, run: Run, asked: int | None = None) -> dict[str, Any]:
    """Return the facts of what the first attempt begins with, or {}: nothing.

    Args:
        run: One that was never launched.
        asked: A checkpoint whose weights shall be taken instead of those of the card's base.

    Raises:
        NotFound: The project has no such checkpoint.
        Conflict: It is not proved whole, the run is a fork, or it trains a production config with another base than
            that of its card, or than was approved.
    """
    if run.start_checkpoint and starts.takes(run.start_checkpoint) == starts.STATE:
        if asked:
            raise Conflict(
                _("Run %(run)s is a fork: it begins with the whole state of its checkpoint.")
                % {"run": run.pk},
                hint=_("Make a run of the config, and launch that with these weights."),
            )
        return dict(run.start_checkpoint)
    return start_with(config=run.config, card=run.card, asked=asked)


def start_with(*, config: Config, card: Card | None, asked: int | None = None) -> dict[str, Any]:
    """Return the facts of what a run of a config begins with that is no fork, or {}: nothing; raises as `start_of`."""
    base = of_card(card)
    if asked and asked != base and config.is_production:
        raise Conflict(
            _("A run of a production config begins with the base of its card, and with no other."),
            hint=_("Name the checkpoint on the card; its trail says who and why."),
        )
    number = asked or base
    base_approval.require(config=config, base=number)
    if not number:
        return {}
    found = resume_points.find(number, project_id=config.project_id)
    return found | {"takes": starts.WEIGHTS}


def keep(*, run: Run, start: dict[str, Any]) -> None:
    """Keep with the run what its first attempt begins with: until it has saved, later ones begin there as well."""
    if start != run.start_checkpoint:
        run.start_checkpoint = start
        run.save(update_fields=["start_checkpoint"])
