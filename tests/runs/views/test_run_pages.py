import pytest

from runs import states
from runs.models import Attempt, Run
from runs.services import events
from tests.factories import make_attempt, make_run
from tests.runs.views.people import People

TABS = ("", "timeline/", "attempts/", "logs/", "checkpoints/", "proof/", "header/")


@pytest.fixture
def attempt(people: People) -> Attempt:
    run = make_run(project=people.project, created_by=people.operator_user, name="gpt-tiny")
    return make_attempt(run=run, state=states.State.RUNNING, reason="All ranks joined.")


@pytest.mark.parametrize("tab", TABS)
def test_every_part_has_an_address_of_its_own(people: People, attempt: Attempt, tab: str) -> None:
    assert people.viewer.get(f"/runs/{attempt.run_id}/{tab}").status_code == 200
    assert people.outsider.get(f"/runs/{attempt.run_id}/{tab}").status_code == 404
    assert people.operator.get(f"/runs/987654/{tab}").status_code == 404


def test_a_part_alone_is_answered_to_htmx(people: People, attempt: Attempt) -> None:
    answer = people.viewer.get(f"/runs/{attempt.run_id}/timeline/", headers={"HX-Request": "true"})
    page = answer.content.decode()
    assert "<html" not in page
    assert 'aria-current="page"' in page
    assert "HX-Request" in answer["Vary"]


def test_the_header_says_state_and_reason(people: People, attempt: Attempt) -> None:
    page = people.viewer.get(f"/runs/{attempt.run_id}/header/").content.decode()
    assert 'data-state="running"' in page
    assert "All ranks joined." in page


def test_a_viewer_is_offered_no_act(people: People, attempt: Attempt) -> None:
    assert "Force stop" in people.operator.get(f"/runs/{attempt.run_id}/").content.decode()
    assert "Force stop" not in people.viewer.get(f"/runs/{attempt.run_id}/").content.decode()


def test_what_ended_cannot_be_stopped_and_can_be_resumed(people: People) -> None:
    run = make_run(project=people.project, created_by=people.operator_user)
    make_attempt(
        run=run, state="ended", outcome="failed", ended_at=run.created_at, reason="Signal 9."
    )
    page = people.operator.get(f"/runs/{run.pk}/").content.decode()
    assert 'data-act="resume"' in page
    assert 'data-act="stop"' not in page
    assert "Resume begins at step 0" in page


def test_the_timeline_is_filtered_by_kind(people: People, attempt: Attempt) -> None:
    for kind in ("checkpoint", "state"):
        events.record(run=attempt.run, kind=kind, message=f"A {kind} happened.")
    page = people.viewer.get(f"/runs/{attempt.run_id}/timeline/?kind=checkpoint").content.decode()
    assert "A checkpoint happened." in page
    assert "A state happened." not in page


@pytest.mark.parametrize("kind", ["nonsense", "\0"])
def test_a_kind_that_no_event_has_shows_none(people: People, attempt: Attempt, kind: str) -> None:
    answer = people.viewer.get(f"/runs/{attempt.run_id}/timeline/", {"kind": kind})
    assert (answer.status_code, answer.context["lines"]) == (200, [])


def test_names_and_messages_are_escaped(people: People) -> None:
    run = make_run(
        project=people.project, created_by=people.operator_user, name="<script>alert(1)</script>"
    )
    events.record(run=run, kind="message", message="<b>bold</b>")
    for path in ("/runs/", f"/runs/{run.pk}/", f"/runs/{run.pk}/timeline/"):
        page = people.operator.get(path).content.decode()
        assert "<script>alert" not in page
        assert "<b>bold" not in page


def test_an_attempt_shows_how_each_rank_ended(people: People) -> None:
    run: Run = make_run(project=people.project, created_by=people.operator_user)
    ranks = {
        "0": {"exit_code": 1, "signal": None, "error": "ValueError: no"},
        "1": {"exit_code": None, "signal": 9, "error": None},
    }
    make_attempt(
        run=run, state="ended", outcome="failed", ended_at=run.created_at, exit={"ranks": ranks}
    )
    page = people.viewer.get(f"/runs/{run.pk}/attempts/").content.decode()
    assert "exit 1" in page
    assert "signal 9" in page
    assert "ValueError: no" in page


def test_what_the_trainer_reported_reads_as_people_write_it(
    people: People, attempt: Attempt
) -> None:
    attempt.environment = {
        "libraries": {"torch": "2.13"},
        "devices": ["cpu", "cpu"],
        "dirty": True,
        "commit": None,
    }
    attempt.save()
    page = people.viewer.get(f"/runs/{attempt.run_id}/proof/").content.decode()
    for python in ("{&#x27;", "[&#x27;", ">None<", ">True<"):
        assert python not in page


def test_the_header_says_for_how_long_and_after_the_end_since_when(
    people: People, attempt: Attempt
) -> None:
    page = people.viewer.get(f"/runs/{attempt.run_id}/header/").content.decode()
    assert "data-lasting" in page
    assert ">for " in page
    assert "ago</time>" not in page


def test_the_lines_of_one_checkpoint_are_folded(people: People, attempt: Attempt) -> None:
    for state in ("complete", "verified", "stable"):
        events.record(
            run=attempt.run, attempt=attempt, kind="checkpoint", message=f"It is {state}.",
            data={"id": 7, "step": 200, "state": state},
        )  # fmt: skip
    page = people.viewer.get(f"/runs/{attempt.run_id}/timeline/").content.decode()
    assert page.count('<span class="kind" title="checkpoint">Checkpoint</span>') == 1
    assert "and 2 before" in page


def test_what_waits_for_devices_says_that_it_starts_by_itself(people: People) -> None:
    run = make_run(project=people.project, created_by=people.operator_user)
    reason = "Waiting for devices of this machine: it needs 8, 0 of 8 are free."
    make_attempt(run=run, state=states.State.WAITING, reason=reason)
    page = people.viewer.get(f"/runs/{run.pk}/header/").content.decode()
    assert reason in page
    assert "It starts by itself as soon as its devices are free." in page
