"""A run whose card names a base checkpoint begins with its weights, by whatever path it is launched."""

from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.urls import reverse

from checkpoints import selectors
from checkpoints.drawing import draw
from checkpoints.graph import graph_of
from checkpoints.models import Checkpoint, StartedFrom
from checkpoints.recovery import facts_of
from checkpoints.selectors.lineage import Lineage, lineage_of
from checkpoints.selectors.resume import NoRecoveryPoint
from controlplane.common.errors import Conflict, Invalid, NotFound
from controlplane.common.models import Project, User
from runs import run_forecast
from runs.models import Attempt, Card, Config, Event, Run
from runs.services import attempts, bases, cards, runs
from tests.checkpoints.makers import end, make_checkpoint, save, verify
from tests.factories import make_attempt, make_config, make_run
from tests.runs.api.callers import Api
from tests.runs.planned import AGREED, make_card
from workers import specs

pytestmark = pytest.mark.django_db
DOCUMENT = {"schema_version": 1, "name": "c", "train": {"steps": 50}, "network": AGREED["network"]}


@pytest.fixture
def make_base(project: Project, user: User) -> Callable[..., Checkpoint]:
    def make(**changes: Any) -> Checkpoint:
        config = make_config(project=project, created_by=user, document=DOCUMENT)
        return make_checkpoint(run=make_run(config=config, name="base"), step=900, **changes)

    return make


@pytest.fixture
def base(make_base: Callable[..., Checkpoint]) -> Checkpoint:
    return make_base()


@pytest.fixture
def card(user: User, project: Project, base: Checkpoint) -> Card:
    return make_card(user, project, stage="sft", base_checkpoint=base.pk)


@pytest.fixture
def run(card: Card) -> Run:
    return run_of(card)


def run_of(card: Card, **document: Any) -> Run:
    config = make_config(
        document=DOCUMENT | document, project=card.project, created_by=card.owner, card=card
    )
    return make_run(config=config, card=card, name="tuned")


def failed(attempt: Attempt) -> Run:
    end(attempt)
    return Run.objects.get(pk=attempt.run_id)


def lineage(checkpoint: Checkpoint) -> Lineage:
    return lineage_of(checkpoint, projects=Project.objects.all())


def test_the_first_attempt_takes_the_weights_of_the_base(run: Run, user: User, base: Checkpoint):
    attempt = runs.request_launch(run=run, user=user)
    assert attempt.start_checkpoint == {
        "id": base.pk, "path": base.path, "run": base.run_id, "step": 900, "takes": "weights",
    }  # fmt: skip
    assert attempt.start_step == 0
    assert run.start_checkpoint == attempt.start_checkpoint
    start = StartedFrom.objects.get(attempt=attempt)
    assert (start.checkpoint, start.takes) == (base, "weights")
    assert run.parent is None
    told = Event.objects.get(run=run, kind="attempt_requested").message
    assert told.endswith(f"it begins at step 0 with the weights of checkpoint {base.pk}.")


def test_the_launcher_is_told_weights_and_nothing_to_resume(run: Run, user: User, base: Checkpoint):
    spec = specs.spec_of(runs.request_launch(run=run, user=user))
    assert (spec.weights_from, spec.resume_from, spec.is_fork) == (base.path, None, False)


def test_an_attempt_that_is_made_without_asking_begins_there_too(run: Run, base: Checkpoint):
    assert attempts.create_attempt(run=run).start_checkpoint["id"] == base.pk


def test_a_card_of_pretraining_that_names_a_base_begins_with_it_as_well(
    user: User, project: Project, base: Checkpoint
):
    run = run_of(make_card(user, project, base_checkpoint=base.pk))
    assert runs.request_launch(run=run, user=user).start_checkpoint["takes"] == "weights"


def test_a_crash_before_the_first_own_save_begins_with_the_weights_again(run: Run, user: User):
    first = runs.request_launch(run=run, user=user)
    second = runs.request_resume(run=failed(first), user=user)
    assert second.start_checkpoint == first.start_checkpoint
    assert StartedFrom.objects.get(attempt=second).takes == "weights"


def test_afterwards_it_resumes_from_its_own_saves_as_any_other(
    run: Run, user: User, base: Checkpoint
):
    first = runs.request_launch(run=run, user=user)
    own = verify(save(first, 20))
    assert own.parent == base
    second = runs.request_resume(run=failed(first), user=user)
    assert (second.start_checkpoint["id"], second.start_step) == (own.pk, 20)
    spec = specs.spec_of(second)
    assert (spec.weights_from, spec.resume_from, spec.is_fork) == (None, own.path, False)


def test_own_saves_that_are_not_proved_are_not_thrown_away_for_the_base(run: Run, user: User):
    first = runs.request_launch(run=run, user=user)
    save(first, 20)
    with pytest.raises(NoRecoveryPoint, match="none is proved whole"):
        runs.request_resume(run=failed(first), user=user)
    assert selectors.newest_for_resume(make_run()) is None


@pytest.mark.parametrize("state", ["damaged", "complete", "failed"])
def test_a_base_that_is_not_proved_whole_is_refused(
    run: Run, user: User, base: Checkpoint, state: str
):
    Checkpoint.objects.filter(pk=base.pk).update(state=state)
    with pytest.raises(Conflict, match=f"Checkpoint {base.pk} of step 900 is .*no run may begin"):
        runs.request_launch(run=run, user=user)
    assert not run.attempts.exists()
    run.refresh_from_db()
    assert run.start_checkpoint == {}


def test_a_later_attempt_does_not_begin_with_a_base_that_was_damaged_since(
    run: Run, user: User, base: Checkpoint
):
    first = runs.request_launch(run=run, user=user)
    Checkpoint.objects.filter(pk=base.pk).update(state="damaged")
    with pytest.raises(Conflict, match="no run may begin"):
        runs.request_resume(run=failed(first), user=user)


def test_whoever_launches_may_name_another_base(
    run: Run, user: User, make_base: Callable[..., Checkpoint]
):
    other = make_base()
    asked = {"weights_from": other.pk, "waiver": "The config of this test is a short one."}
    answer = Api(user).post(f"runs/{run.pk}/launch", asked)
    assert answer.status_code == 202, answer.json()
    shown = answer.json()
    assert Api(user).get(f"runs/{run.pk}/record").json()["base_checkpoint"] == other.pk
    assert (shown["from_checkpoint"], shown["takes"]) == (other.pk, "weights")
    assert (shown["attempts"][0]["from_checkpoint"], shown["attempts"][0]["takes"]) == (
        other.pk,
        "weights",
    )


def test_nobody_gives_a_production_run_another_base_than_its_card_names(
    run: Run, user: User, base: Checkpoint, make_base: Callable[..., Checkpoint]
):
    run.config.kind = Config.Kind.PRODUCTION
    with pytest.raises(Conflict, match="begins with the base of its card"):
        bases.start_of(run=run, asked=make_base().pk)
    for asked in (None, base.pk):
        assert bases.start_of(run=run, asked=asked)["id"] == base.pk


def test_another_base_is_held_to_the_same_rules(user: User, project: Project, base: Checkpoint):
    network = AGREED["network"] | {"layers": 9}
    config = make_config(project=project, created_by=user, document=DOCUMENT | {"network": network})
    unlike = make_run(config=config)
    with pytest.raises(Invalid, match=r"network\.layers is 9; .* has 8") as told:
        runs.request_launch(run=unlike, user=user, weights_from=base.pk)
    assert list(told.value.fields) == ["network.layers"]


def test_a_checkpoint_of_another_project_is_none(user: User, run: Run):
    foreign = make_checkpoint()
    with pytest.raises(NotFound, match="no checkpoint"):
        runs.request_launch(run=run, user=user, weights_from=foreign.pk)


def test_another_tokenizer_than_that_of_the_base_does_not_start(user: User, project: Project):
    digests = [{"digest": f"sha256:{letter * 64}"} for letter in "ab"]
    config = make_config(
        project=project, created_by=user, document=DOCUMENT | {"tokenizer": digests[0]}
    )
    base = make_checkpoint(run=make_run(config=config), step=9)
    card = make_card(user, project, stage="continued", base_checkpoint=base.pk)
    with pytest.raises(Invalid, match=r"tokenizer\.digest is") as told:
        runs.request_launch(run=run_of(card, tokenizer=digests[1]), user=user)
    assert told.value.extra["findings"][0]["code"] == "TOK-1.base"


def test_a_fork_keeps_the_whole_state_whatever_its_card_names(
    run: Run, user: User, base: Checkpoint, card: Card
):
    start = {"id": base.pk, "path": base.path, "run": base.run_id, "step": 900}
    fork = runs.create_run(
        user=user, project=run.project, config=run.config, card=card, parent=run, from_checkpoint=start,
    )  # fmt: skip
    with pytest.raises(Conflict, match="is a fork"):
        runs.request_launch(run=fork, user=user, reason="x", weights_from=base.pk)
    attempt = runs.request_launch(run=fork, user=user, reason="x")
    assert (attempt.start_checkpoint, attempt.start_step) == (start, 900)
    assert specs.spec_of(attempt).is_fork
    assert run_forecast.missed_base(fork) is None


def test_only_a_run_that_was_launched_otherwise_is_told_that_it_missed_its_base(
    run: Run, user: User, card: Card, make_base: Callable[..., Checkpoint], base: Checkpoint
):
    assert run_forecast.missed_base(run) is None
    assert run_forecast.base_of(run) == {"id": base.pk, "is_taken": False}
    runs.request_launch(run=run, user=user)
    assert run_forecast.missed_base(run) is None
    assert run_forecast.base_of(run)["is_taken"]
    later = make_base()
    cards.update_card(user=user, card=card, data=card.data | {"base_checkpoint": later.pk})
    assert run_forecast.missed_base(Run.objects.get(pk=run.pk)) == later.pk


def test_the_graph_says_what_was_taken_over(run: Run, user: User, base: Checkpoint):
    attempt = runs.request_launch(run=run, user=user)
    own = verify(save(attempt, 20))
    (edge,) = [one for one in graph_of(lineage(own))["edges"] if one["kind"] == "started"]
    assert (edge["from"], edge["takes"]) == (f"checkpoint:{base.pk}", "weights")
    assert lineage(base).descendants == {own.pk}
    assert lineage(own).took_weights(own)
    assert [(one.run_id, start.takes) for one, start in lineage(base).began_here] == [
        (run.pk, "weights")
    ]


def test_what_was_made_with_the_weights_is_drawn_after_them_though_its_steps_are_less(
    run: Run, user: User, base: Checkpoint
):
    first = runs.request_launch(run=run, user=user)
    own = [verify(save(first, step)) for step in (20, 30)]
    second = runs.request_resume(run=failed(first), user=user)
    own.append(verify(save(second, 40)))
    drawing = draw(lineage(base))
    places = {mark.checkpoint.pk: mark.x for mark in drawing.marks}
    assert sorted(places, key=lambda pk: places[pk]) == [base.pk, *(one.pk for one in own)]
    assert [(one.is_fork, one.takes_weights) for one in drawing.branches] == [
        (False, True),
        (False, False),
    ]


def test_the_pages_say_it(run: Run, user: User, base: Checkpoint):
    client = Client()
    client.force_login(user)
    planned = client.get(reverse("runs:run_proof", args=[run.pk])).content.decode()
    assert "It will begin with the weights of" in planned
    own = verify(save(runs.request_launch(run=run, user=user), 20))
    proof = client.get(reverse("runs:run_proof", args=[run.pk])).content.decode()
    assert "It began with the weights of" in proof
    assert (
        f"#{base.pk}</a>" in client.get(reverse("runs:run_detail", args=[run.pk])).content.decode()
    )
    tried = client.get(reverse("runs:run_attempts", args=[run.pk])).content.decode()
    assert "weights alone" in tried
    assert "step 900" in tried
    of_base = client.get(reverse("checkpoints:detail", args=[base.pk])).content.decode()
    assert "data-began-here" in of_base
    assert (
        "weights alone" in client.get(reverse("checkpoints:detail", args=[own.pk])).content.decode()
    )


def test_a_worker_of_the_version_before_still_keeps_a_start(base: Checkpoint, run: Run) -> None:
    attempt = make_attempt(run=run)
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO checkpoints_startedfrom (attempt_id, checkpoint_id, at, overrides) VALUES (%s, %s, now(), '{}')",
            [attempt.pk, base.pk],
        )
    assert StartedFrom.objects.get(attempt=attempt).takes == StartedFrom.Takes.STATE


@pytest.mark.parametrize("stage", ["pretrain", "sft"])
def test_a_fork_goes_on_from_its_state_whatever_became_of_the_base(
    user: User, project: Project, base: Checkpoint, stage: str
) -> None:
    card = make_card(user, project, stage=stage, base_checkpoint=base.pk, name=stage)
    run = run_of(card)
    own = facts_of(make_checkpoint(run=run, step=300))
    Checkpoint.objects.filter(pk=base.pk).update(state="damaged")
    fork = runs.create_run(
        user=user, project=project, config=run.config, card=card, parent=run, from_checkpoint=own
    )
    assert runs.request_launch(run=fork, user=user).start_step == 300
