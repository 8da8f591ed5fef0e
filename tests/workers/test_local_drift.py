"""A local attempt whose files or record were changed while it trains is flagged within a minute (CONF-2)."""

import json
from datetime import timedelta
from pathlib import Path

import pytest
from django.utils import timezone

from runs.models import Attempt, Config, Event, Sight
from safehold.config import canonical_document
from tests.factories import make_attempt, make_config, make_run
from tests.safehold.documents import make_config as make_document
from workers import sights, specs
from workers.launchers.folder import Folder
from workers.launchers.local import LocalLauncher

pytestmark = pytest.mark.django_db


@pytest.fixture
def launcher(tmp_path: Path) -> LocalLauncher:
    return LocalLauncher(tmp_path)


@pytest.fixture
def attempt() -> Attempt:
    run = make_run(config=make_config(document=canonical_document(make_document())))
    return make_attempt(run=run, state="running")


@pytest.fixture
def folder(launcher: LocalLauncher, attempt: Attempt, tmp_path: Path) -> Folder:
    spec = specs.spec_of(attempt)
    folder = Folder(tmp_path / spec.name)
    folder.make()
    folder.write("config.json", json.dumps(spec.config))
    folder.write("spec.json", json.dumps({"command": list(spec.command)}))
    folder.write("wrapper.json", json.dumps({"pid": 1, "started": "1@another-boot"}))
    return folder


def looked(attempt: Attempt, launcher: LocalLauncher) -> list[str]:
    """Return the fields flagged after a look, half a minute after the last one."""
    Sight.objects.update(drift_checked_at=timezone.now() - timedelta(seconds=31))
    sights.keep(Attempt.objects.get(pk=attempt.pk), launcher)
    return [one["evidence"]["field"] for one in Sight.objects.get(attempt=attempt).drift]


def test_a_half_minute_is_enough() -> None:
    assert timedelta(seconds=60) > sights.DRIFT_EVERY


def test_an_edited_config_file_is_flagged_once(
    attempt: Attempt, launcher: LocalLauncher, folder: Folder
) -> None:
    assert looked(attempt, launcher) == []
    document = json.loads((folder.path / "config.json").read_text())
    document["optimizer"]["lr"] = 1e-3
    folder.write("config.json", json.dumps(document))
    assert looked(attempt, launcher) == looked(attempt, launcher) == ["optimizer.lr"]
    assert Event.objects.filter(run=attempt.run, kind="drift").count() == 1
    document["optimizer"]["lr"] = 3e-4
    folder.write("config.json", json.dumps(document))
    assert looked(attempt, launcher) == []


def test_a_missing_file_and_another_command_are_flagged(
    attempt: Attempt, launcher: LocalLauncher, folder: Folder
) -> None:
    folder.write("spec.json", json.dumps({"command": ["other.py"]}))
    assert looked(attempt, launcher) == ["command"]
    (folder.path / "config.json").unlink()
    assert looked(attempt, launcher) == ["config.json"]


def test_a_changed_record_is_flagged_too(
    attempt: Attempt, launcher: LocalLauncher, folder: Folder
) -> None:
    Config.objects.filter(pk=attempt.run.config_id).update(document={"name": "other"})
    assert looked(attempt, launcher) == ["config"]
