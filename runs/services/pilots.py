"""Pilots: small trainings made from a card, each with a card of its own and, where there is one to shrink, a config."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.db import transaction
from django.utils.translation import gettext as _

from controlplane.common.errors import Conflict, Invalid
from controlplane.common.models import User
from runs.models import Card, Config
from runs.services import cards, configs
from safehold.config import parse
from safehold.config.errors import ConfigInvalid
from safehold.planning import CardFields, read_kept
from safehold.planning.pilot_config import config_for
from safehold.planning.pilots import mix_pilot_of, pilot_of

Pilot = Card.Pilot


@transaction.atomic
def create_pilot(
    *, user: User, card: Card, kind: str = Pilot.SHRUNK, name: str = ""
) -> tuple[Card, Config | None]:
    """Write the card of a pilot, and its config where the card has one.

    Args:
        user: Needs the role operator.
        card: The large one.
        kind: `pilot`: 1 % of the data and about a tenth of the network; `mix_pilot`: about 1e9 parameters.
        name: Default: the name of the card with the word pilot.

    Raises:
        Invalid: `kind` is none of the two.
    """
    if kind not in {Pilot.SHRUNK, Pilot.MIX}:
        told = _("There is no pilot of the kind %(kind)s.") % {"kind": repr(kind)}
        raise Invalid(told, fields={"kind": [_("pilot or mix_pilot.")]})
    large = read_kept(card.data)
    # Another network than that of the base: a pilot begins from nothing.
    small = (pilot_of if kind == Pilot.SHRUNK else mix_pilot_of)(large)
    small = small.model_copy(update={"base_checkpoint": 0})
    made = cards.create_card(
        user=user, project=card.project, name=name or _name(card, kind), question=_question(card, kind),
        stage=card.stage if not large.base_checkpoint else "pretrain",
        data=small.model_dump(mode="json"), parent=card, pilot=kind,
    )  # fmt: skip
    source = card.configs.order_by("-pk").first()
    return made, _config(user, made, source, small) if source else None


@transaction.atomic
def create_mixes(
    *, user: User, card: Card, mixes: Mapping[str, Mapping[str, float]]
) -> Sequence[Config]:
    """Write one config a mix for a mix pilot: everything else is the same in all of them.

    Args:
        user: Needs the role operator.
        card: A mix pilot that has a config.
        mixes: Shares of the domains in the tokens seen, by the name of the mix.

    Raises:
        Conflict: It is no mix pilot, or has no config to vary.
        Invalid: The shares of a mix do not sum to 1; the field is named by the mix.
    """
    source = card.configs.order_by("pk").first()
    if card.pilot != Pilot.MIX or source is None:
        raise Conflict(
            _("Card %(card)s has no config whose mix could be varied.") % {"card": card.name},
            hint=_("Make a mix pilot from a card that has a config, or write one for it."),
        )
    faults = _faults(source, mixes)
    if faults:
        raise Invalid(_("A mix cannot be used."), fields=faults)
    return [
        configs.create_config(
            user=user, project=card.project, card=card, parent=source,
            document=_with_mix(source.document, name, shares),
        )
        for name, shares in mixes.items()
    ]  # fmt: skip


def _config(user: User, made: Card, source: Config, small: CardFields) -> Config | None:
    document = config_for(source.document, small, name=made.name)
    return configs.create_config(
        user=user, project=made.project, document=document, card=made, parent=source
    )


def _faults(source: Config, mixes: Mapping[str, Mapping[str, float]]) -> dict[str, list[str]]:
    found = {}
    for name, shares in mixes.items():
        try:
            parse(_with_mix(source.document, name, shares))
        except ConfigInvalid as invalid:
            found[f"mixes.{name}"] = [f"{one.path}: {one.message}" for one in invalid.errors]
    return found


def _with_mix(
    document: Mapping[str, Any], name: str, shares: Mapping[str, float]
) -> dict[str, Any]:
    return {**document, "name": f"{document['name']} {name}"[:200], "data": {**document["data"], "mix": dict(shares)}}  # fmt: skip


def _name(card: Card, kind: str) -> str:
    word = "pilot" if kind == Pilot.SHRUNK else "mix pilot"
    return f"{card.name[:180]}, {word}"


def _question(card: Card, kind: str) -> str:
    if kind == Pilot.MIX:
        return f"Which mix of the data serves {card.name} best?"
    return (
        f"Does what {card.name} plans hold at a hundredth of the data and a tenth of the network?"
    )
