"""An expected failure is told in the language of the page; what is kept stays in one language."""

import pytest
from django.utils import translation

from controlplane.common.errors import Conflict, Invalid
from controlplane.common.models import Project, Role, User
from runs.models import Run
from runs.services import configs, dry_runs, hands, run_shelf, saved_views
from tests.factories import make_attempt, make_config, make_run, make_user


@pytest.fixture
def admin(project: Project) -> User:
    return make_user(Role.ADMIN, project)


@pytest.fixture
def run(project: Project) -> Run:
    run = make_run(project=project)
    make_attempt(run=run, state="running")
    return run


def test_message_and_hint_are_told_in_chinese(run: Run, admin: User) -> None:
    with translation.override("zh-hans"), pytest.raises(Conflict) as told:
        run_shelf.archive_run(run=run, user=admin)
    assert told.value.message == f"运行 {run.pk} 尚未结束。"
    assert told.value.hint == "请先停止。"
    assert told.value.problem()["detail"] == told.value.message


def test_the_same_failure_is_told_in_english_elsewhere(run: Run, admin: User) -> None:
    with pytest.raises(Conflict) as told:
        run_shelf.archive_run(run=run, user=admin)
    assert (told.value.message, told.value.hint) == (
        f"Run {run.pk} has not ended.",
        "Stop it first.",
    )


def test_a_failure_keeps_the_language_in_which_it_was_raised(project: Project, admin: User) -> None:
    with translation.override("zh-hans"), pytest.raises(Invalid) as told:
        saved_views.save_view(user=admin, project=project, name=" ", query="")
    assert type(told.value.message) is str
    assert told.value.fields == {"name": ["缺少此项。"]}


def test_a_count_of_faults_is_told_in_chinese(project: Project, admin: User) -> None:
    with translation.override("zh-hans"), pytest.raises(Invalid) as told:
        configs.create_config(user=admin, project=project, text="nothing = 1\n")
    assert told.value.message.startswith("配置不可用：")
    assert told.value.hint == "请改正所列字段。"


def test_the_answer_of_a_preview_is_kept_in_english(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hands, "_send", lambda *_: None)
    monkeypatch.setattr(hands.ask, "__kwdefaults__", {"patience_seconds": 0.0})
    with translation.override("zh-hans"):
        [found] = dry_runs.dry_run(config=make_config(project=project), launcher="kubernetes:a")
    assert "No worker answered within 0 s." in found.message
    assert found.advice == "Is a worker running? Try again, or look into its log."
