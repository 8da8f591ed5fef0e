"""What the first attempt of a run begins with: a fork its checkpoint, others the weights of their base (CARD-7)."""

from typing import Any

from django.utils.translation import gettext as _

from controlplane.common.errors import Conflict
from runs import starts
from runs.models import Card, Run
from runs.services import resume_points
from safehold.planning import read_kept


def of_card(card: Card | None) -> int:
    """Return the number of the checkpoint that a card goes on from; 0 where it names none."""
    return read_kept(card.data).base_checkpoint if card else 0


def start_of(*, run: Run, asked: int | None = None) -> dict[str, Any]:
    """Return the facts of what the first attempt begins with, or {}: nothing.

    Args:
        run: One that was never launched.
        asked: A checkpoint whose weights shall be taken instead of those of the card's base.

    Raises:
        NotFound: The project has no such checkpoint.
        Conflict: It is not proved whole, the run is a fork, or it trains a production config with another base than
            that of its card: nobody approved that.
    """
    if run.start_checkpoint and starts.takes(run.start_checkpoint) == starts.STATE:
        if asked:
            raise Conflict(
                _("Run %(run)s is a fork: it begins with the whole state of its checkpoint.")
                % {"run": run.pk},
                hint=_("Make a run of the config, and launch that with these weights."),
            )
        return dict(run.start_checkpoint)
    base = of_card(run.card)
    if asked and asked != base and run.config.is_production:
        raise Conflict(
            _("Run %(run)s trains a production config: it begins with the base of its card, and with no other.")
            % {"run": run.pk},
            hint=_("Name the checkpoint on the card; its trail says who and why."),
        )  # fmt: skip
    number = asked or base
    if not number:
        return {}
    found = resume_points.find(number, project_id=run.project_id)
    return found | {"takes": starts.WEIGHTS}


def keep(*, run: Run, start: dict[str, Any]) -> None:
    """Keep with the run what its first attempt begins with: until it has saved, later ones begin there as well."""
    if start != run.start_checkpoint:
        run.start_checkpoint = start
        run.save(update_fields=["start_checkpoint"])
