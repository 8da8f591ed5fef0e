"""A finished run is accepted or not, metric by metric, by what it logged last (CARD-6)."""

import pytest
from django.utils import timezone

from controlplane.common.models import Project, Role, User
from runs import card_export, evaluations, results
from runs.models import Attempt, Card, Run
from runs.services import cards, metrics
from tests.factories import make_attempt, make_config, make_project, make_run, make_user
from tests.runs.planned import log, make_card

pytestmark = pytest.mark.django_db


@pytest.fixture
def user() -> User:
    project = make_project()
    return make_user(Role.OPERATOR, project)


@pytest.fixture
def card(user: User) -> Card:
    return make_card(user, Project.objects.get())


def a_run(card: Card) -> Run:
    config = make_config(project=card.project, created_by=card.owner, card=card)
    return make_run(config=config, card=card)


def an_attempt(run: Run, **changes: object) -> Attempt:
    over = {"state": "ended", "outcome": "finished", "ended_at": timezone.now()}
    return make_attempt(run=run, **over | changes)


def verdicts(card: Card, run: Run) -> tuple[str, dict[str, str]]:
    (found,) = results.results_of(card, [run])
    return found.word, {one.acceptance.metric: one.judgement for one in found.judged}


def test_a_run_that_reached_every_bound_is_accepted(card: Card) -> None:
    run = a_run(card)
    log(an_attempt(run), val__loss={100: 2.5, 200: 1.9}, test__mmlu={200: 0.31})
    assert verdicts(card, run) == ("accepted", {"loss": "accepted", "mmlu": "accepted"})


def test_one_bound_that_was_missed_decides(card: Card) -> None:
    run = a_run(card)
    log(an_attempt(run), val__loss={100: 1.9, 200: 2.5}, test__mmlu={200: 0.31})
    assert verdicts(card, run) == ("not accepted", {"loss": "not accepted", "mmlu": "accepted"})


def test_before_the_end_it_is_only_how_things_stand(card: Card) -> None:
    run = a_run(card)
    running = make_attempt(run=run, state="running")
    assert verdicts(card, run)[0] == "undecided"
    log(running, val__loss={100: 1.9}, test__mmlu={100: 0.5})
    assert verdicts(card, run)[0] == "accepted so far"


def test_a_metric_that_was_never_logged_is_not_measured(card: Card) -> None:
    run = a_run(card)
    log(an_attempt(run), val__loss={100: 1.0})
    assert verdicts(card, run) == ("not measured", {"loss": "accepted", "mmlu": "not measured"})


def test_what_is_not_a_number_is_not_accepted(card: Card) -> None:
    run = a_run(card)
    log(an_attempt(run), val__loss={100: 1.0, 200: float("nan")}, test__mmlu={100: 0.5})
    assert verdicts(card, run)[1]["loss"] == "not accepted"


def test_work_that_was_done_over_does_not_count(card: Card) -> None:
    """Attempt 1 reached 1.0 at step 300; attempt 2 began anew from step 200, where the loss was 2.5."""
    run = a_run(card)
    log(an_attempt(run, outcome="failed"), val__loss={100: 3.0, 200: 2.5, 300: 1.0})
    origin = {"id": 1, "path": "/c", "run": run.pk, "step": 200}
    second = an_attempt(run, start_step=200, start_checkpoint=origin, first_step_at=timezone.now())
    assert evaluations.newest([run], ["val/loss"])[run.pk]["val/loss"].value == 2.5
    log(second, val__loss={400: 1.7})
    found = evaluations.newest([run], ["val/loss"])[run.pk]["val/loss"]
    assert (found.value, found.step) == (1.7, 400)


def test_points_that_were_compacted_count_alike(card: Card) -> None:
    run = a_run(card)
    attempt = an_attempt(run)
    log(attempt, val__loss={100: 2.5, 200: 1.9}, test__mmlu={200: 0.31})
    metrics.compact_attempt(attempt.pk)
    assert verdicts(card, run)[0] == "accepted"


def test_bounds_that_moved_after_the_launch_are_told(card: Card, user: User) -> None:
    run = a_run(card)
    log(an_attempt(run), val__loss={100: 2.5}, test__mmlu={100: 0.31})
    assert not results.results_of(card, [run])[0].is_moved
    easier = [one | {"threshold": 3.0} if one["metric"] == "loss" else one for one in card.data["acceptance"]]  # fmt: skip
    cards.update_card(user=user, card=card, data=card.data | {"acceptance": easier})
    (found,) = results.results_of(card, [run])
    assert (found.verdict, found.is_moved) == ("accepted", True)


def test_queries_do_not_grow_with_the_runs(
    card: Card, django_assert_max_num_queries: object
) -> None:
    for _ in range(12):
        log(make_attempt(run=a_run(card)), val__loss={100: 2.0})
    with django_assert_max_num_queries(8):  # type: ignore[operator]
        assert len(results.results_of(card, Run.objects.filter(card=card))) == 12


def test_the_first_loss_is_that_of_a_fresh_start(card: Card) -> None:
    run = a_run(card)
    log(make_attempt(run=run), train__loss={1: 6.9, 2: 6.5, 500: 3.0})
    found = evaluations.first(run, ["train/loss"])
    assert found is not None
    assert (found.value, found.step) == (6.9, 1)
    late = a_run(card)
    log(make_attempt(run=late), train__loss={500: 3.0})
    assert evaluations.first(late, ["train/loss"]) is None


def test_the_export_holds_card_sums_results_and_trail(card: Card, user: User) -> None:
    run = a_run(card)
    log(an_attempt(run), val__loss={100: 1.9}, test__mmlu={100: 0.31})
    cards.update_card(user=user, card=card, question="Does a | b?", reason="Asked\nagain.")
    document = card_export.document_of(Card.objects.get(pk=card.pk))
    assert document["runs"][0]["verdict"] == "accepted"
    assert document["sums"]["forecast"]["anchor_every_steps"] > 0
    text = card_export.as_markdown(document)
    assert "| Layers | 8 layers |" in text
    assert "val/loss = 1.9 (<= 2)" in text
    assert "Does a \\| b?" in text
    assert f"| {user.username} | question |" in text
    assert "Asked again." in text
