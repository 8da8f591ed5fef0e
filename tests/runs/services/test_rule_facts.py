"""What rules are told beyond the config: finished runs of the family, and the curves of the run before."""

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from controlplane.common.models import Role
from runs.models import Attempt, Card, Config, RulebookValue, Run
from runs.services import configs, preflight, rule_facts, runs
from safehold.preflight import Facts
from safehold.preflight.facts import Proven, Trial
from tests.factories import make_attempt, make_project, make_user
from tests.runs.corpus import documents_on
from tests.runs.planned import log

pytestmark = pytest.mark.django_db
CHANCE = random.Random(1)


@pytest.fixture
def stored(tmp_path: Path) -> Callable[..., Config]:
    documents, project = documents_on(tmp_path), make_project()
    user = make_user(Role.OPERATOR, project)

    def stored(parent: Config | None = None, **changes: Any) -> Config:
        return configs.create_config(
            user=user, project=project, document=documents(**changes), parent=parent
        )

    return stored


def trained(config: Config, outcome: str = "finished", **series: dict[int, float]) -> Attempt:
    """Return the attempt of a run that is over."""
    run = runs.create_run(user=config.created_by, project=config.project, config=config)
    attempt = make_attempt(run=run, state="ended", outcome=outcome, ended_at=run.created_at)
    log(attempt, **series)
    done = max((max(one) for one in series.values()), default=run.total_steps)
    Run.objects.filter(pk=run.pk).update(step=done)
    return attempt


def test_finished_runs_of_the_family_prove_rate_and_batch(stored: Callable[..., Config]) -> None:
    trained(stored())
    trained(stored(optimizer__lr=6e-4), outcome="failed")
    trained(stored(network__layers=3))
    found = rule_facts.proven_for(stored(train__seed=9))
    run = Run.objects.earliest("pk")
    assert found == (Proven("small", 3e-4, 8, run.pk),)


def test_another_stage_proves_nothing(stored: Callable[..., Config]) -> None:
    trained(stored(stage="sft"))
    assert rule_facts.proven_for(stored()) == ()
    assert len(rule_facts.proven_for(stored(stage="sft", train__seed=9))) == 1


def test_what_ended_early_and_pilots_prove_nothing(stored: Callable[..., Config]) -> None:
    trained(stored(train__steps=20), train__loss={10: 2.0})
    config = stored(train__steps=20, train__seed=3)
    pilot = Card.objects.create(
        project=config.project, owner=config.created_by, name="p", pilot=Card.Pilot.SHRUNK
    )
    Run.objects.filter(pk=trained(config).run_id).update(card=pilot)
    assert rule_facts.proven_for(config) == ()
    Run.objects.update(card=None)
    assert len(rule_facts.proven_for(config)) == 1


def test_the_experiment_to_finish_is_found_with_how_far_it_is(
    stored: Callable[..., Config],
) -> None:
    production = stored(kind="production", train__steps=20)

    def trial() -> Trial | None:
        return rule_facts.with_records(Facts(), production).trial

    stored(optimizer__lr=6e-4)
    stored(train__global_batch=16)
    assert trial() is None
    experiment = stored(train__steps=20)
    assert trial() == Trial("small", experiment.pk, 20)
    attempt = trained(experiment, outcome="stopped", train__loss={12: 2.0})
    assert trial() == Trial("small", experiment.pk, 20, run_id=attempt.run_id, steps=12)
    report = preflight.request(config=production, user=production.created_by, only=["rules"])
    told = next(one for one in report.findings if "proven" in one["code"])
    assert told["evidence"]["config_ids"] == [experiment.pk]
    assert told["evidence"]["run_ids"] == [attempt.run_id]


def test_no_whole_document_is_read_to_look_for_the_experiment(
    stored: Callable[..., Config], django_assert_num_queries: Any
) -> None:
    production = stored(kind="production")
    for seed in range(3):
        stored(optimizer__lr=6e-4, train__seed=seed)
    with django_assert_num_queries(1) as asked:
        found = rule_facts._trial_in(
            production.project_id, production.family_hash, production.document
        )
    assert found is None
    assert '"runs_config"."document",' not in asked[0]["sql"]


def test_production_passes_with_what_was_proven(stored: Callable[..., Config]) -> None:
    def verdict(config: Config) -> list[str]:
        report = preflight.request(config=config, user=config.created_by, only=["rules"])
        return [one["severity"] for one in report.findings if "proven" in one["code"]]

    production = stored(kind="production")
    assert verdict(production) == ["fail"]
    trained(stored())
    assert verdict(production) == ["pass"]


def saw_tooth(step: int) -> float:
    """Return a loss that falls at first, then climbs for 25 steps and falls back at once."""
    if step < 300:
        return 8 * (1 + step / 50) ** -0.3
    return 4.4 + 0.02 * (step % 25) + CHANCE.gauss(0, 0.001)


def test_the_curves_of_the_run_before_advise_clip_and_beta(stored: Callable[..., Config]) -> None:
    before = stored(optimizer__betas=[0.9, 0.999])
    steps = range(1, 601)
    losses = {step: saw_tooth(step) for step in steps}
    norms = {step: 0.2 + CHANCE.gauss(0, 0.02) for step in steps}
    trained(before, train__loss=losses, grad_norm__global=norms)
    after = stored(parent=before, optimizer__betas=[0.9, 0.999])
    report = preflight.request(config=after, user=after.created_by, only=["rules"])
    said = {one["evidence"].get("rule"): one for one in report.findings}
    assert (said["betas.saw_tooth"]["severity"], said["betas.saw_tooth"]["advice"]) == (
        "warn",
        "Set β2 to 0.95.",
    )
    assert said["clip.three_sigma"]["evidence"]["clip"] == pytest.approx(0.26, abs=0.01)


def test_a_smooth_run_says_nothing_against_its_beta(stored: Callable[..., Config]) -> None:
    before = stored()
    trained(before, train__loss={step: 8 * (1 + step / 50) ** -0.3 for step in range(1, 601)})
    seen = rule_facts.observed_before(stored(parent=before))
    assert seen is not None
    assert (seen.is_saw_tooth, seen.norm_mean) == (False, None)


def test_the_bounds_of_the_project_decide_in_its_reports(stored: Callable[..., Config]) -> None:
    config = stored(optimizer__weight_decay=0.2)

    def severity() -> str:
        report = preflight.request(
            config=config, user=config.created_by, only=["CONF-5.weight_decay"]
        )
        return str(report.findings[0]["severity"])

    assert severity() == "warn"
    RulebookValue.objects.create(
        project=config.project, rule="weight_decay.any", low=0, high=0.3, reason="Ours.", set_by=config.created_by
    )  # fmt: skip
    assert severity() == "pass"
