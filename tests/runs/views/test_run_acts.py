import pytest

from controlplane.common.models import AuditEntry
from runs import states
from runs.models import Attempt, Command, Run
from tests.factories import make_attempt, make_run
from tests.runs.views.people import People


@pytest.fixture
def run(people: People) -> Run:
    run = make_run(
        project=people.project, created_by=people.operator_user, name="gpt-tiny", desired="running"
    )
    make_attempt(run=run, state=states.State.RUNNING)
    return run


def test_stop_is_a_plain_form(people: People, run: Run) -> None:
    answer = people.operator.post(f"/runs/{run.pk}/stop/act/")
    run.refresh_from_db()
    assert answer["Location"] == f"/runs/{run.pk}/"
    assert run.desired == "stopped"
    assert AuditEntry.objects.filter(action="run.stop").exists()


def test_an_act_from_the_page_answers_the_header_and_says_what_happens(
    people: People, run: Run
) -> None:
    answer = people.operator.post(f"/runs/{run.pk}/pause/act/", headers={"HX-Request": "true"})
    assert answer.status_code == 200
    assert "Pause%20asked%20for" in answer["X-Announce"]
    assert "<html" not in answer.content.decode()


def test_save_sends_one_command_however_often_it_is_pressed(people: People, run: Run) -> None:
    for _ in range(2):
        people.operator.post(f"/runs/{run.pk}/save/act/")
    assert Command.objects.filter(kind="save").count() == 1


def test_force_stop_is_an_act_of_its_own(people: People, run: Run) -> None:
    people.operator.post(f"/runs/{run.pk}/force-stop/act/")
    run.refresh_from_db()
    assert run.is_forced


def test_a_refusal_stands_in_the_header(people: People, run: Run) -> None:
    Attempt.objects.update(state="ended", outcome="finished", ended_at=run.created_at)
    answer = people.operator.post(f"/runs/{run.pk}/resume/act/", headers={"HX-Request": "true"})
    assert answer.status_code == 422
    assert "has finished" in answer.content.decode()


@pytest.mark.parametrize("act", ["stop", "force-stop", "pause", "save", "resume", "launch"])
def test_a_viewer_may_not_and_an_outsider_learns_nothing(
    people: People, run: Run, act: str
) -> None:
    assert people.viewer.post(f"/runs/{run.pk}/{act}/act/").status_code == 403
    assert people.outsider.post(f"/runs/{run.pk}/{act}/act/").status_code == 404
    assert people.operator.get(f"/runs/{run.pk}/{act}/act/").status_code == 405


def test_an_unknown_act_is_not_found(people: People, run: Run) -> None:
    assert people.operator.post(f"/runs/{run.pk}/explode/act/").status_code == 404
