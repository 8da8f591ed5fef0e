"""What stands in the form of a new config before anybody has typed."""

from typing import Any

from controlplane.common.models import Project
from runs.forms import document
from runs.forms.cards import STAGES
from runs.forms.configs import SPECS
from runs.models import Card, Config
from runs.services import config_texts, rulebook
from safehold.config import to_toml
from safehold.planning import read_kept
from safehold.planning.card_config import config_from
from safehold.rulebook import starting


def text_for(project: Project, parent: Config | None, card: Card | None, stage: str = "") -> str:
    """Return TOML: the config that is followed, else the card's own newest, else values of the stage.

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
    newest = Config.objects.filter(project=project).first()
    return to_toml(_begun(project, newest, card, stage))


def _begun(
    project: Project, newest: Config | None, card: Card | None, stage: str
) -> dict[str, Any]:
    start = dict(newest.document) if newest else document.starting_document(SPECS)
    before = start.get("stage", "pretrain")
    asked = card.stage if card else stage if stage in dict(STAGES) else before
    if card:
        start = config_from(start, read_kept(card.data), stage=asked)
    start, rules = {**start, "kind": Config.Kind.EXPERIMENT.value}, rulebook.in_force(project.pk)
    if newest is not None and before == asked:
        return starting.within(start, rules)
    return starting.for_stage(start, asked, rules)
