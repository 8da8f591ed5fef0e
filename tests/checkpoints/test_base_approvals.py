"""An approver approves the base with the config: a run of it begins with that one, whatever its card names later."""

from dataclasses import dataclass
from pathlib import Path

import pytest
from django.db import DatabaseError, transaction
from django.test import Client

from checkpoints.models import Checkpoint
from controlplane.common.errors import Conflict
from controlplane.common.models import AuditEntry, Role, User
from runs.models import Approval, Card, Config, Run
from runs.services import approvals, base_approval, cards, configs, runs
from tests.checkpoints.base_cases import Cases, make_cases
from tests.checkpoints.makers import make_checkpoint
from tests.factories import make_config, make_run, make_user
from tests.runs.api.callers import Api
from tests.runs.corpus import documents_on
from tests.runs.planned import make_card
from tests.runs.proven import prove

pytestmark = pytest.mark.django_db


@dataclass(frozen=True)
class World:
    """A production config whose card names a base, and who has a part in it."""

    cases: Cases
    approver: User
    card: Card
    config: Config
    base: Checkpoint
    other: Checkpoint

    def asked(self) -> Approval:
        return approvals.request_approval(user=self.cases.user, config=self.config)

    def approved(self) -> Run:
        approvals.approve(user=self.approver, approval=self.asked())
        return runs.create_run(user=self.cases.user, project=self.cases.project, config=self.config)

    def name(self, base: Checkpoint) -> None:
        data = self.card.data | {"base_checkpoint": base.pk}
        cards.update_card(user=self.cases.user, card=self.card, data=data)
        self.config.refresh_from_db()


@pytest.fixture
def world(tmp_path: Path) -> World:
    cases = make_cases()
    document = documents_on(tmp_path)(kind="production")
    alike = {"schema_version": 1, "name": "base", "train": {"steps": 9}}
    made_by = make_config(project=cases.project, created_by=cases.user, document=alike)
    base, other = (make_checkpoint(run=make_run(config=made_by), step=9) for _ in range(2))
    card = make_card(cases.user, cases.project, stage="sft", base_checkpoint=base.pk)
    config = configs.create_config(user=cases.user, project=cases.project, document=document, card=card)  # fmt: skip
    configs.freeze(user=cases.user, config=config)
    prove(config)
    return World(cases, make_user(Role.APPROVER, cases.project), card, config, base, other)


def test_the_base_is_kept_with_the_approval_and_in_the_trail(world: World) -> None:
    world.approved()
    given = Approval.objects.get()
    assert given.base_checkpoint == world.base.pk
    told = AuditEntry.objects.filter(object_type="approval").values_list("data", flat=True)
    assert [one["base_checkpoint"] for one in told] == [world.base.pk] * 2
    shown = Api(world.cases.user).get(f"configs/{world.config.pk}/approvals").json()["items"]
    assert shown[0]["base_checkpoint"] == world.base.pk


def test_the_approved_base_starts(world: World) -> None:
    run = world.approved()
    base_approval.require(config=world.config, base=world.base.pk)
    with pytest.raises(Conflict, match="preflight"):
        runs.request_launch(run=run, user=world.cases.user, reason="x")


def test_another_base_on_the_card_since_does_not_start_by_any_path(world: World) -> None:
    run = world.approved()
    world.name(world.other)
    told = f"approved with base checkpoint {world.base.pk}; the run would begin with base checkpoint {world.other.pk}"
    for start in (
        lambda: runs.request_launch(run=run, user=world.cases.user, reason="x"),
        lambda: base_approval.require_start(config=world.config, start={"id": world.other.pk, "takes": "weights"}),
    ):  # fmt: skip
        with pytest.raises(Conflict, match=told) as refused:
            start()
        assert refused.value.code == "other-base-approved"
        assert "have it approved again" in refused.value.hint
    answer = Api(world.cases.user).post(f"runs/{run.pk}/launch", {"reason": "x"})
    assert (answer.status_code, told in answer.content.decode()) == (409, True)
    client = Client()
    client.force_login(world.cases.user)
    page = client.post("/runs/new/", {"config": world.config.pk, "launcher": "local", "reason": "x"})  # fmt: skip
    assert (page.status_code, told in page.content.decode()) == (422, True)
    assert not run.attempts.exists()


def test_approved_again_it_starts_with_the_new_one(world: World) -> None:
    world.approved()
    world.name(world.other)
    given = Approval.objects.get()
    approvals.withdraw(user=world.approver, approval=given, reason="Another base.")
    approvals.approve(user=world.approver, approval=world.asked())
    base_approval.require(config=world.config, base=world.other.pk)
    with pytest.raises(Conflict, match="was approved with"):
        base_approval.require(config=world.config, base=world.base.pk)


def test_a_base_that_was_changed_while_it_was_asked_for_is_not_approved(world: World) -> None:
    asked = world.asked()
    world.name(world.other)
    with pytest.raises(Conflict, match="its card names base checkpoint") as refused:
        approvals.approve(user=world.approver, approval=asked)
    assert refused.value.hint == "Take the request back and ask again."


def test_a_run_under_another_card_begins_with_no_other_base(world: World) -> None:
    world.approved()
    card = make_card(world.cases.user, world.cases.project, stage="sft", base_checkpoint=world.other.pk)  # fmt: skip
    run = runs.create_run(user=world.cases.user, project=world.cases.project, config=world.config, card=card)  # fmt: skip
    with pytest.raises(Conflict, match="was approved with"):
        runs.request_launch(run=run, user=world.cases.user, reason="x")


def test_a_fork_takes_no_state_that_goes_back_to_another_base(world: World) -> None:
    run = world.approved()
    start = {"id": world.other.pk, "path": world.other.path, "run": world.other.run_id, "step": 9}
    fork = runs.create_run(
        user=world.cases.user, project=world.cases.project, config=world.config, parent=run, from_checkpoint=start,
    )  # fmt: skip
    with pytest.raises(Conflict, match="would begin with no base checkpoint"):
        base_approval.require_start(config=world.config, start=fork.start_checkpoint)


def test_the_database_keeps_the_base_and_refuses_other_weights(world: World) -> None:
    run = world.approved()
    with pytest.raises(DatabaseError, match="UPDATE refused"), transaction.atomic():
        Approval.objects.update(base_checkpoint=world.other.pk)
    start = {"id": world.other.pk, "path": "/c", "run": 1, "step": 9, "takes": "weights"}
    with pytest.raises(DatabaseError, match="not with these weights"), transaction.atomic():
        run.attempts.create(number=1, launcher="local", start_checkpoint=start, requested_at=run.created_at, state_at=run.created_at)  # fmt: skip


def test_the_page_names_the_base_and_says_when_it_is_another_one(world: World) -> None:
    client = Client()
    client.force_login(world.approver)
    world.asked()
    page = client.get(f"/configs/{world.config.pk}/").content.decode()
    assert f'data-approval-base="{world.base.pk}"' in page
    assert f"beginning with base checkpoint {world.base.pk}, may then train" in page
    world.name(world.other)
    assert "Its card names base checkpoint" in client.get(f"/configs/{world.config.pk}/").content.decode()  # fmt: skip


def test_a_planned_run_says_that_its_base_is_not_the_approved_one(world: World) -> None:
    run, client = world.approved(), Client()
    client.force_login(world.cases.user)
    assert "data-other-base" not in client.get(f"/runs/{run.pk}/proof/").content.decode()
    world.name(world.other)
    page = client.get(f"/runs/{run.pk}/proof/").content.decode()
    assert f"Its card names base checkpoint {world.other.pk} since" in page
