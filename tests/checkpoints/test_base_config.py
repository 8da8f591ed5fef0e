"""The config of a card with a base begins with the one that made the base, not with the newest of the project."""

import tomllib
from typing import Any

import pytest
from django.conf import settings

from checkpoints.models import Checkpoint
from controlplane.common.models import Project, User
from runs import config_starts
from runs.models import Card, Config
from tests.checkpoints.makers import make_checkpoint
from tests.factories import make_config, make_run
from tests.runs.planned import make_card
from tests.safehold.documents import make_document

pytestmark = pytest.mark.django_db


def config_of(project: Project, user: User, **changes: Any) -> Config:
    document = make_document(checkpoint__root=str(settings.SAFEHOLD_CHECKPOINT_ROOT), **changes)
    return make_config(project=project, created_by=user, document=document)


def begun(project: Project, card: Card) -> dict[str, Any]:
    return tomllib.loads(config_starts.text_for(project, None, card))


def test_it_has_network_and_tokenizer_of_the_base_and_the_name_of_the_card(
    project: Project, user: User
) -> None:
    made_it = config_of(project, user, network__layers=3, tokenizer__path="/base.json")
    config_of(project, user, network__layers=7, tokenizer__path="/other.json")
    base = make_checkpoint(run=make_run(config=made_it))
    card = make_card(
        user, project, name="Answers", stage="sft", network={}, base_checkpoint=base.pk
    )
    start = begun(project, card)
    assert (start["network"]["layers"], start["tokenizer"]["path"]) == (3, "/base.json")
    assert (start["name"], start["stage"]) == ("Answers", "sft")


def test_a_base_that_is_damaged_since_says_nothing(project: Project, user: User) -> None:
    broken = config_of(project, user, network__layers=3)
    config_of(project, user, network__layers=7)
    base = make_checkpoint(run=make_run(config=broken))
    card = make_card(user, project, stage="sft", network={}, base_checkpoint=base.pk)
    Checkpoint.objects.filter(pk=base.pk).update(state="damaged")
    assert begun(project, card)["network"]["layers"] == 7
