"""Reports are recorded once, survive lost messages and dead workers, and gate every launch."""

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import time_machine
from django.utils import timezone

from controlplane.common.errors import Conflict, Invalid
from controlplane.common.models import Role
from runs.models import Config, PreflightReport
from runs.services import checking, configs, preflight, runs
from tests.factories import make_project, make_user
from tests.runs.corpus import documents_on

pytestmark = pytest.mark.django_db
State = PreflightReport.State


@pytest.fixture
def document(tmp_path: Path) -> Callable[..., dict[str, Any]]:
    return documents_on(tmp_path)


@pytest.fixture
def config(document: Callable[..., dict[str, Any]]) -> Config:
    project = make_project()
    return configs.create_config(
        user=make_user(Role.OPERATOR, project), project=project, document=document()
    )


@pytest.fixture
def large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(preflight, "SMALL_DATA_BYTES", 0)


def launch(config: Config) -> Any:
    run = runs.create_run(user=config.created_by, project=config.project, config=config)
    return preflight.launch(run=run, user=config.created_by)


def test_small_data_are_judged_at_once(config: Config) -> None:
    report = preflight.request(config=config, user=config.created_by)
    assert (report.state, report.verdict, report.only) == (State.DONE, "pass", [])
    assert report.ended_at


def test_large_data_wait_for_a_worker(config: Config, large: None) -> None:
    report = preflight.request(config=config, user=config.created_by)
    assert (report.state, report.verdict) == (State.REQUESTED, "")
    checking.carry_out(report_id=report.pk)
    report.refresh_from_db()
    assert (report.state, report.verdict) == (State.DONE, "pass")


def test_checks_without_data_never_wait(config: Config, large: None) -> None:
    report = preflight.request(config=config, user=config.created_by, only=["config", "TOK-1.lock"])
    assert report.state == State.DONE
    assert {one["code"] for one in report.findings} == {
        "CONF-2.step_counts", "CONF-3.checkpoint_volume", "CONF-3.config_fields", "TOK-1.lock",
    }  # fmt: skip


def test_an_unknown_check_is_refused(config: Config) -> None:
    with pytest.raises(Invalid, match="no check odd"):
        preflight.request(config=config, user=config.created_by, only=["odd"])
    assert not PreflightReport.objects.exists()


def test_a_report_is_carried_out_once(config: Config) -> None:
    report = preflight.request(config=config, user=config.created_by)
    PreflightReport.objects.filter(pk=report.pk).update(verdict="kept")
    checking.carry_out(report_id=report.pk)
    report.refresh_from_db()
    assert report.verdict == "kept"


def test_what_nobody_works_on_is_found_and_done(config: Config, large: None) -> None:
    report = preflight.request(config=config, user=config.created_by)
    assert not checking.left_behind().exists()
    PreflightReport.objects.filter(pk=report.pk).update(
        requested_at=timezone.now() - timedelta(seconds=6)
    )
    assert checking.left_behind().get() == report
    PreflightReport.objects.filter(pk=report.pk).update(
        state=State.RUNNING, lease_until=timezone.now() - timedelta(seconds=1)
    )
    assert checking.left_behind().get() == report
    checking.carry_out(report_id=report.pk)
    assert not checking.left_behind().exists()


def test_one_that_waits_for_a_busy_worker_is_called_ever_less_often(
    config: Config, large: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A worker may read a corpus for hours; calls for the others must not pile up meanwhile."""
    calls: list[int] = []
    monkeypatch.setattr(checking, "wake", lambda name, report_id: calls.append(report_id))
    report = preflight.request(config=config, user=config.created_by)
    with time_machine.travel(report.requested_at, tick=False) as clock:
        for _ in range(4 * 60 * 4):  # four hours of sweeps
            clock.shift(15)
            checking.wake_left_behind()
    assert set(calls) == {report.pk}
    assert 5 <= len(calls) <= 12
    checking.carry_out(report_id=report.pk)
    report.refresh_from_db()
    assert report.state == State.DONE


def test_a_lease_that_is_held_is_left_alone(config: Config, large: None) -> None:
    report = preflight.request(config=config, user=config.created_by)
    PreflightReport.objects.filter(pk=report.pk).update(
        state=State.RUNNING, lease_until=timezone.now() + timedelta(seconds=60)
    )
    checking.carry_out(report_id=report.pk)
    report.refresh_from_db()
    assert report.state == State.RUNNING


def test_a_report_that_kills_its_workers_is_given_up(
    config: Config, large: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    def killed(*args: object) -> None:
        raise SystemExit  # passes every handler, as a kill would

    report = preflight.request(config=config, user=config.created_by)
    monkeypatch.setattr(checking, "facts_of", killed)
    for _ in range(checking.MOST_TRIES):
        with pytest.raises(SystemExit):
            checking.carry_out(report_id=report.pk)
        PreflightReport.objects.update(lease_until=timezone.now() - timedelta(seconds=1))
    checking.carry_out(report_id=report.pk)
    report.refresh_from_db()
    assert (report.state, "ended 3 times" in report.error) == (State.FAILED, True)


def test_checks_that_break_down_say_so(config: Config, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*args: object) -> None:
        raise MemoryError("out of it")

    monkeypatch.setattr(checking, "facts_of", broken)
    with pytest.raises(MemoryError):
        preflight.request(config=config, user=config.created_by)
    report = PreflightReport.objects.get()
    assert report.state == State.FAILED
    assert "out of it" in report.error


def test_a_launch_passes_with_a_sound_config(config: Config) -> None:
    assert launch(config).number == 1


def test_a_launch_waits_for_large_data(config: Config, large: None) -> None:
    with pytest.raises(Conflict, match="is reading the data"):
        launch(config)
    checking.carry_out(report_id=PreflightReport.objects.get().pk)
    assert launch(config).number == 1


def test_what_changed_since_the_report_is_seen_at_launch(config: Config, tmp_path: Path) -> None:
    preflight.request(config=config, user=config.created_by)
    (tmp_path / "corpus/tokenizer.json").write_text("{}")
    with pytest.raises(Invalid, match="is not the one of the config") as caught:
        launch(config)
    assert "tokenizer.digest" in caught.value.fields


def test_what_changed_is_seen_beside_what_was_read_of_large_data(
    config: Config, large: None, tmp_path: Path
) -> None:
    report = preflight.request(config=config, user=config.created_by)
    checking.carry_out(report_id=report.pk)
    (tmp_path / "corpus/tokenizer.json").write_text("{}")
    with pytest.raises(Invalid, match="is not the one of the config"):
        launch(config)
    newest = preflight.newest_whole(config)
    assert newest is not None
    assert newest.pk > report.pk
    assert {"DATA-1.format", "TOK-1.lock"} <= {one["code"] for one in newest.findings}


def test_bad_data_of_an_earlier_report_still_block(config: Config, tmp_path: Path) -> None:
    (tmp_path / "corpus/a.jsonl").write_text("nonsense\n")
    assert preflight.request(config=config, user=config.created_by).verdict == "fail"
    with pytest.raises(Invalid, match="not JSON"):
        launch(config)


def test_a_missing_fact_blocks_production_only(config: Config, document: Any) -> None:
    def kept(**changes: Any) -> Config:
        return configs.create_config(
            user=config.created_by,
            project=config.project,
            document=document(tokenizer__digest="", **changes),
        )

    assert launch(kept()).number == 1
    with pytest.raises(Invalid) as told:
        launch(kept(kind="production"))
    assert "TOK-1.lock" in {one["code"] for one in told.value.extra["findings"]}


def test_a_viewer_may_not_ask(config: Config) -> None:
    viewer = make_user(Role.VIEWER, config.project)
    with pytest.raises(Exception, match="needs the role operator"):
        preflight.request(config=config, user=viewer)
