import pytest
from django.test import Client

from tests.factories import make_attempt, make_config, make_run
from tests.runs.views.people import People


def _named(people: People, *names: str) -> None:
    for name in names:
        make_run(project=people.project, created_by=people.operator_user, name=name)


def test_a_stranger_is_sent_to_sign_in(client: Client, db: None) -> None:
    answer = client.get("/runs/")
    assert answer.status_code == 302
    assert answer["Location"] == "/sign-in?next=/runs/"


def test_an_empty_list_says_what_to_do_next(people: People) -> None:
    page = people.operator.get("/runs/").content.decode()
    assert "No run yet" in page
    assert "/configs/new/" in page


def test_a_line_names_the_run_its_state_and_its_owner(people: People) -> None:
    run = make_run(
        project=people.project,
        created_by=people.operator_user,
        name="gpt-tiny",
        total_steps=200,
        step=50,
    )
    make_attempt(run=run)
    page = people.viewer.get("/runs/").content.decode()
    assert "gpt-tiny" in page
    assert "Queued" in page
    assert people.operator_user.username in page
    assert '<progress value="50" max="200"' in page


def test_an_outsider_sees_no_run_of_the_project(people: People) -> None:
    _named(people, "secret-run")
    page = people.outsider.get("/runs/").content.decode()
    assert "secret-run" not in page
    assert "member of no project" in page


@pytest.mark.parametrize(
    ("query", "found"),
    [("q=alpha", {"alpha"}), ("state=draft", {"alpha", "beta"}), ("state=active", {"gamma"}), ("owner=nobody", set()),
     ("state=nonsense", {"alpha", "beta", "gamma"}), ("cursor=nonsense", {"alpha", "beta", "gamma"})],
)  # fmt: skip
def test_filters_stand_in_the_address(people: People, query: str, found: set[str]) -> None:
    _named(people, "alpha", "beta", "gamma")
    make_attempt(run=people.project.runs.get(name="gamma"))
    page = people.operator.get(f"/runs/?{query}").content.decode()
    assert {name for name in ("alpha", "beta", "gamma") if f">{name}</a>" in page} == found


def test_pages_follow_each_other_without_a_gap(people: People) -> None:
    config = make_config(project=people.project, created_by=people.operator_user)
    for number in range(60):
        make_run(config=config, name=f"run {number:02}")
    first = people.operator.get("/runs/?order=name")
    second = people.operator.get(f"/runs/?order=name&cursor={first.context['next_cursor']}")
    names = [row.run.name for answer in (first, second) for row in answer.context["rows"]]
    assert names == [f"run {number:02}" for number in range(60)]
    assert second.context["next_cursor"] == ""


def test_the_number_of_queries_does_not_grow_with_the_rows(
    people: People, django_assert_max_num_queries: object
) -> None:
    config = make_config(project=people.project, created_by=people.operator_user)
    for _ in range(30):
        make_attempt(run=make_run(config=config))
    with django_assert_max_num_queries(8):  # type: ignore[operator]
        people.operator.get("/runs/")


def test_changed_lines_are_fetched_by_their_number(people: People) -> None:
    _named(people, "mine", "other")
    wanted = people.project.runs.get(name="mine").pk
    page = people.viewer.get(f"/runs/rows/?run={wanted}&run=x").content.decode()
    assert f'id="run-{wanted}"' in page
    assert "other" not in page
    assert (
        f'id="run-{wanted}"'
        not in people.outsider.get(f"/runs/rows/?run={wanted}").content.decode()
    )


def test_the_chosen_project_is_kept(people: People) -> None:
    answer = people.operator.post("/projects/switch/", {"project": people.project.pk})
    assert answer["Location"] == "/runs/"
    assert (
        people.outsider.post("/projects/switch/", {"project": people.project.pk}).status_code == 404
    )
