"""A production config is approved with the base checkpoint that its card names: it begins with that one and no other."""

from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext as _

from controlplane.common.errors import Conflict
from runs.models import Approval, Config
from runs.services.base_lines import of_card, of_start


def require(*, config: Config, base: int) -> None:
    """Pass a start that was approved; an experiment needs no approval, and without one `require_approved` refuses.

    Args:
        config: What would be started.
        base: The checkpoint that the weights of the run go back to; 0: none.

    Raises:
        Conflict: It was approved with another one.
    """
    if not config.is_production:
        return
    given = Approval.objects.filter(config=config, state=Approval.State.APPROVED).first()
    if given is not None and (given.base_checkpoint or 0) != base:
        raise Conflict(
            _("Config %(config)s was approved with %(approved)s; the run would begin with %(now)s.")
            % {"config": config.pk, "approved": words(given.base_checkpoint), "now": words(base)},
            code="other-base-approved",
            hint=_("Name the approved base on the card again, or take the approval back and have it approved again."),
        )  # fmt: skip


def require_start(*, config: Config, start: Mapping[str, Any] | None) -> None:
    """Pass what an attempt begins with (`runs.starts`), however many came before; raises as `require`."""
    if config.is_production:
        require(config=config, base=of_start(start or {}))


def require_as_shown(asked: Approval) -> None:
    """Pass a request whose card still names the base that the approver was shown.

    Raises:
        Conflict: It names another one since.
    """
    now = of_card(asked.config.card)
    if (asked.base_checkpoint or 0) != now:
        raise Conflict(
            _("Approval of config %(config)s was asked for with %(asked)s; its card names %(now)s since.")
            % {"config": asked.config_id, "asked": words(asked.base_checkpoint), "now": words(now)},
            code="other-base-approved",
            hint=_("Take the request back and ask again."),
        )  # fmt: skip


def words(base: int | None) -> str:
    """Return a base as a part of a sentence."""
    return _("base checkpoint %(id)s") % {"id": base} if base else _("no base checkpoint")
