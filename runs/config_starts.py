"""What stands in the form of a new config before anybody has typed."""

from typing import Any

from controlplane.common.models import Project
from runs.forms import document
from runs.forms.cards import STAGES
from runs.forms.configs import SPECS
from runs.models import Card, Config
from runs.services import base_fit, base_lines, config_texts, rulebook
from safehold.config import to_toml
from safehold.planning import read_kept
from safehold.planning.card_config import config_from
from safehold.rulebook import starting


def text_for(project: Project, parent: Config | None, card: Card | None, stage: str = "") -> str:
    """Return TOML: the config that is followed, else the card's own newest, else values of the stage.

    A card that goes on from a base begins with the config that made it: network and tokenizer have to be its own.
    What is copied from a config of another purpose begins within the rules of the project.

    Args:
        project: Whose rules and configs count.
        parent: The config that it follows.
        card: What it is for.
        stage: For a config without card; unknown or empty: that of the newest config.
    """
    own = card.configs.order_by("-pk").first() if card and not parent else None
    if followed := parent or own:
        return config_texts.text_of(followed)
    copied = _made_base(card) or Config.objects.filter(project=project).first()
    return to_toml(_begun(project, copied, card, stage))


def _made_base(card: Card | None) -> Config | None:
    base = base_lines.of_card(card)
    return base_fit.made_by(base, project_id=card.project_id) if card and base else None


def _begun(
    project: Project, copied: Config | None, card: Card | None, stage: str
) -> dict[str, Any]:
    start = dict(copied.document) if copied else document.starting_document(SPECS)
    before = start.get("stage", "pretrain")
    asked = card.stage if card else stage if stage in dict(STAGES) else before
    if card:
        start = {**config_from(start, read_kept(card.data), stage=asked), "name": card.name}
    start, rules = {**start, "kind": Config.Kind.EXPERIMENT.value}, rulebook.in_force(project.pk)
    if copied is not None and before == asked:
        return starting.within(start, rules)
    return starting.for_stage(start, asked, rules)
