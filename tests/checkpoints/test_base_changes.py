"""A run that begins with another base than the one it is held against differs in one more variable."""

import pytest
from django.test import Client

from checkpoints.models import Checkpoint
from controlplane.common.errors import Invalid
from runs.models import Config, RunChange
from runs.services import base_lines, runs
from tests.checkpoints.base_cases import Cases, make_cases, planned
from tests.checkpoints.makers import end, save, verify
from tests.runs.api.callers import Api

pytestmark = pytest.mark.django_db


@pytest.fixture
def cases() -> Cases:
    return make_cases()


@pytest.fixture
def base(cases: Cases) -> Checkpoint:
    return cases.base()


@pytest.fixture
def before(cases: Cases, base: Checkpoint) -> Config:
    """A config whose run began with the base."""
    config = cases.config(cases.card(base))
    runs.request_launch(run=planned(cases, config), user=cases.user)
    return config


def titles(change: RunChange) -> list[str]:
    return [one["title"] for one in change.factors]


def test_the_same_base_is_no_variable(cases: Cases, before: Config) -> None:
    run = planned(cases, cases.config(before.card, before, seed=2))
    assert titles(run.change) == ["Seed"]
    runs.request_launch(run=run, user=cases.user)
    run.change.refresh_from_db()
    assert (run.change.num_factors, run.change.base) == (1, run.change.parent_base)


def test_another_base_is_one_and_with_a_second_needs_the_reason(
    cases: Cases, before: Config, base: Checkpoint
) -> None:
    other = cases.base()
    alone = planned(cases, cases.config(cases.card(other), before))
    assert titles(alone.change) == ["Base checkpoint"]
    assert (alone.change.parent_base, alone.change.base) == (base.pk, other.pk)
    runs.request_launch(run=alone, user=cases.user)
    both = planned(cases, cases.config(cases.card(other), before, seed=2))
    with pytest.raises(Invalid, match="Seed, Base checkpoint") as told:
        runs.request_launch(run=both, user=cases.user)
    assert told.value.code == "reason-needed"
    assert runs.request_launch(run=both, user=cases.user, reason="A new stage.").number == 1


def test_a_base_where_there_was_none_is_one(cases: Cases, base: Checkpoint) -> None:
    plain = cases.config(cases.card(None))
    run = planned(cases, cases.config(cases.card(base), plain))
    assert titles(run.change) == ["Base checkpoint"]
    assert run.change.parent_base is None


def test_the_base_named_at_the_launch_counts(cases: Cases, before: Config) -> None:
    run = planned(cases, cases.config(before.card, before, seed=2))
    asked = cases.base().pk
    with pytest.raises(Invalid, match="Base checkpoint"):
        runs.request_launch(run=run, user=cases.user, weights_from=asked)
    runs.request_launch(run=run, user=cases.user, weights_from=asked, reason="Compared.")
    run.change.refresh_from_db()
    assert (run.change.num_factors, run.change.base) == (2, asked)


def test_resumes_and_forks_of_a_run_have_its_base(
    cases: Cases, before: Config, base: Checkpoint
) -> None:
    (run,) = before.runs.all()
    first = run.attempts.get()
    own = verify(save(first, 20))
    end(first)
    runs.request_resume(run=run, user=cases.user)
    start = {"id": own.pk, "path": own.path, "run": run.pk, "step": own.step}
    fork = planned(cases, before, parent=run, from_checkpoint=start)
    again = planned(cases, before, parent=fork, from_checkpoint=start | {"run": fork.pk})
    assert base_lines.of_runs([run, fork, again]) == dict.fromkeys(
        [run.pk, fork.pk, again.pk], base.pk
    )
    assert (fork.change.num_factors, again.change.num_factors) == (0, 0)


def test_the_page_shows_both_with_links(cases: Cases, before: Config, base: Checkpoint) -> None:
    client, other = Client(), cases.base()
    client.force_login(cases.user)
    run = planned(cases, cases.config(cases.card(other), before))
    proof = client.get(f"/runs/{run.pk}/proof/").content.decode()
    compared = client.get(f"/runs/compare/?run={before.runs.get().pk}&run={run.pk}")
    for page in (proof.partition("data-change-base")[2], compared.content.decode()):
        assert f'href="/checkpoints/{base.pk}/"' in page
        assert f'href="/checkpoints/{other.pk}/"' in page
    assert 'data-verdict="1"' in compared.content.decode()


def test_the_api_tells_it(cases: Cases, before: Config, base: Checkpoint) -> None:
    other, api = cases.base(), Api(cases.user)
    run, first = planned(cases, cases.config(cases.card(other), before)), before.runs.get()
    diff = api.get(f"runs/{first.pk}/diff", other=run.pk).json()
    (change,) = diff["changes"]
    assert (change["path"], change["old"], change["new"]) == ("base_checkpoint", base.pk, other.pk)
    assert (diff["num_factors"], change["growth"]) == (1, None)
    assert api.get("comparison", run=[first.pk, run.pk]).json()["diffs"] == [diff]
    told = api.get(f"runs/{run.pk}/record").json()["change"]
    assert (told["parent_base_checkpoint"], told["base_checkpoint"]) == (base.pk, other.pk)


def test_runs_that_took_weights_are_found_from_where_they_were(
    cases: Cases, before: Config, base: Checkpoint
) -> None:
    found = Api(cases.user).get("runs", weights_of=base.run_id).json()["items"]
    assert [one["id"] for one in found] == [before.runs.get().pk]
    assert found[0]["from_checkpoint"] == base.pk
    assert Api(cases.user).get("runs", weights_of=found[0]["id"]).json()["items"] == []


def test_a_hundred_runs_cost_as_much_as_two(
    cases: Cases, before: Config, django_assert_max_num_queries: object
) -> None:
    many = [planned(cases, before) for _ in range(5)]
    with django_assert_max_num_queries(1):  # type: ignore[operator]
        base_lines.of_runs(many)
