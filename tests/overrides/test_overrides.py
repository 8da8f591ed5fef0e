"""A frozen, approved production config cannot be changed, nor started otherwise, by any path: blocked or flagged, each one."""

import json
from pathlib import Path

import pytest
from django.db import DatabaseError, connection, transaction
from django.db.models import ProtectedError

from controlplane.common.errors import SafeholdError
from runs.models import Config
from runs.services import approvals, preflight, runs
from safehold.config import config_hash
from tests.overrides import on_places, on_rows, on_services
from tests.overrides.attempts import Attempted
from tests.overrides.world import World, make_world

pytestmark = pytest.mark.django_db
ATTEMPTS = [*on_rows.attempts(), *on_services.attempts()]
BLOCKS = (SafeholdError, DatabaseError, ProtectedError)


@pytest.fixture
def world(tmp_path: Path) -> World:
    return make_world(tmp_path)


def test_there_are_at_least_a_hundred(world: World) -> None:
    places = (on_places.at_start, on_places.while_it_runs, on_places.kept_out)
    num = len(ATTEMPTS) + sum(len(list(one(world))) for one in places)
    assert num >= 150
    assert len({one.name for one in ATTEMPTS}) == len(ATTEMPTS)


@pytest.mark.parametrize("attempted", ATTEMPTS, ids=lambda one: one.name)
def test_an_attempt_is_blocked(world: World, attempted: Attempted) -> None:
    before = world.state()
    try:
        with transaction.atomic():
            answer = attempted.act(world)
    except BLOCKS:
        is_blocked = True
    else:
        is_blocked = getattr(answer, "status_code", 200) >= 400
    assert is_blocked or attempted.is_silent
    assert world.state() == before


def test_the_trainer_refuses_to_start_with_anything_else(world: World) -> None:
    for name, start in on_places.at_start(world):
        with pytest.raises(ValueError, match="SAFEHOLD_|is set by the launcher"):
            assert start() is None, name


def test_what_is_changed_while_it_runs_is_flagged(world: World) -> None:
    for name, look in on_places.while_it_runs(world):
        with transaction.atomic():
            found = look()
            assert found, name
            transaction.set_rollback(True)


def test_the_environment_of_the_service_reaches_no_training(world: World) -> None:
    for name, is_kept_out in on_places.kept_out(world):
        with transaction.atomic():
            assert is_kept_out(), name
            transaction.set_rollback(True)


def test_the_approved_config_itself_starts(world: World) -> None:
    """The guard is no wall: the way that is meant is open."""
    world.prove()
    assert preflight.launch(run=world.run, user=world.author).number == 1
    approvals.approve(user=world.approver, approval=world.request)
    run = runs.create_run(user=world.requester, project=world.project, config=world.pending)
    assert preflight.launch(run=run, user=world.requester).number == 1


def past_the_triggers(*statements: tuple[str, list[object]]) -> None:
    """Run statements as an owner of the database who switched its guards off."""
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL session_replication_role = replica")
        for text, values in statements:
            cursor.execute(text, values)
        cursor.execute("SET LOCAL session_replication_role = origin")


def test_what_goes_round_the_triggers_starts_nowhere(world: World) -> None:
    """Document alone, document with its digest, and an approval that nobody gave."""
    document = world.config.document | {"name": "other"}
    edits = {
        "document": [("UPDATE runs_config SET document = %s WHERE id = %s", [json.dumps(document), world.config.pk])],
        "digest too": [
            ("UPDATE runs_config SET document = %s, hash = %s WHERE id = %s",
             [json.dumps(document), config_hash(document), world.config.pk]),
        ],
        "approval": [
            ("UPDATE runs_approval SET state = 'approved', decided_by_id = %s WHERE id = %s",
             [world.approver.pk, world.request.pk]),
        ],
        "all three": [
            ("UPDATE runs_config SET document = %s, hash = %s WHERE id = %s",
             [json.dumps(document), config_hash(document), world.config.pk]),
            ("UPDATE runs_approval SET hash = %s WHERE config_id = %s", [config_hash(document), world.config.pk]),
        ],
    }  # fmt: skip
    for name, statements in edits.items():
        with transaction.atomic():
            past_the_triggers(*statements)
            changed = world.pending if name == "approval" else world.config
            with pytest.raises(SafeholdError):
                approvals.require_approved(config=Config.objects.get(pk=changed.pk))
            transaction.set_rollback(True)
