import base64

import pytest
from django.test import Client

from runs.models import Attempt
from runs.run_orders import ORDERS
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


def test_a_run_in_trouble_says_why_in_its_line(people: People) -> None:
    for name, outcome in (("bad", "failed"), ("good", "finished")):
        run = make_run(project=people.project, created_by=people.operator_user, name=name)
        make_attempt(
            run=run, state="ended", outcome=outcome, ended_at=run.created_at, reason=f"Why {name}."
        )
    page = people.viewer.get("/runs/").content.decode()
    assert ("Why bad." in page, "Why good." in page) == (True, False)


def test_a_rate_stands_only_beside_a_run_that_trains(people: People) -> None:
    run = make_run(
        project=people.project,
        created_by=people.operator_user,
        desired="running",
        tokens_per_second=4866.0,
    )
    attempt = make_attempt(run=run, state="running")
    pages = ("/runs/", f"/runs/{run.pk}/header/")
    assert all("4.87 k/s" in people.viewer.get(page).content.decode() for page in pages)
    assert people.viewer.get(f"/api/v1/runs/{run.pk}").json()["tokens_per_second"] == 4866.0
    Attempt.objects.filter(pk=attempt.pk).update(
        state="ended", outcome="stopped", ended_at=run.created_at
    )
    assert not any("4.87 k/s" in people.viewer.get(page).content.decode() for page in pages)
    assert people.viewer.get(f"/api/v1/runs/{run.pk}").json()["tokens_per_second"] is None


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
    with django_assert_max_num_queries(10):  # type: ignore[operator]
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


def found(people: People, query: str) -> list[str]:
    rows = people.operator.get(f"/runs/?{query}").context["rows"]
    return [row.run.name for row in rows]


def test_columns_sort_and_runs_without_a_value_come_last(people: People) -> None:
    config = make_config(project=people.project, created_by=people.operator_user)
    for name, loss, step in (
        ("a", 3.0, 10),
        ("b", None, None),
        ("c", float("nan"), 30),
        ("d", 1.0, 20),
    ):
        make_run(config=config, name=name, last_loss=loss, step=step)
    assert found(people, "order=loss") == ["d", "a", "b", "c"]
    assert found(people, "order=step") == ["c", "d", "a", "b"]


def test_trouble_comes_first_by_state(people: People) -> None:
    config = make_config(project=people.project, created_by=people.operator_user)
    runs = {
        name: make_run(config=config, name=name)
        for name in ("draft", "done", "broken", "live", "lost")
    }
    now = runs["draft"].created_at
    make_attempt(run=runs["done"], state="ended", outcome="finished", ended_at=now)
    make_attempt(run=runs["broken"], state="ended", outcome="failed", ended_at=now)
    make_attempt(run=runs["live"], state="running")
    make_attempt(run=runs["lost"], state="running", contact_lost_since=now)
    assert found(people, "order=state") == ["lost", "live", "broken", "done", "draft"]


@pytest.mark.parametrize("order", ["loss", "step", "state", "name", "activity", "newest", "oldest"])
def test_every_order_pages_without_gap_or_repeat(people: People, order: str) -> None:
    config = make_config(project=people.project, created_by=people.operator_user)
    values = [None, 1.0, float("nan"), float("inf"), 2.0]
    for number in range(120):
        make_run(
            config=config,
            name=f"run {number % 7}",
            last_loss=values[number % 5],
            step=number % 3 or None,
        )
    seen: list[int] = []
    cursor = ""
    while True:
        answer = people.operator.get(f"/runs/?order={order}&cursor={cursor}")
        seen += [row.run.pk for row in answer.context["rows"]]
        cursor = answer.context["next_cursor"]
        if not cursor:
            break
    assert len(seen) == len(set(seen)) == 120


@pytest.mark.parametrize("order", ["loss", "step", "state", "name", "activity", "newest"])
@pytest.mark.parametrize("position", ['["abc", 1]', '[5, 1]', "[1e400, 1]", "[NaN, 1]", '["\\u0000", 1]', '[1, 1e400]',
                                      '["2026-01-01T00:00:00+00:00", 99999999999999999999]'])  # fmt: skip
def test_a_cursor_that_fits_no_order_never_breaks_the_list(
    people: People, order: str, position: str
) -> None:
    make_run(config=make_config(project=people.project, created_by=people.operator_user))
    text = f'{position[:-1]}, "{ORDERS[order]}"]'
    cursor = base64.urlsafe_b64encode(text.encode()).decode()
    assert people.operator.get("/runs/", {"order": order, "cursor": cursor}).status_code == 200


def test_groups_tags_and_the_archive_are_filters(people: People) -> None:
    config = make_config(project=people.project, created_by=people.operator_user)
    make_run(config=config, name="grouped", group="width")
    make_run(config=config, name="tagged", tags=["bf16", "sweep"])
    make_run(config=config, name="old", archived_at="2026-01-01T00:00Z")
    assert found(people, "group=width") == ["grouped"]
    assert found(people, "tag=bf16") == ["tagged"]
    assert found(people, "q=%23sweep") == ["tagged"]
    assert found(people, "shelf=archived") == ["old"]
    assert found(people, "") == ["tagged", "grouped"]
    page = people.operator.get("/runs/").content.decode()
    assert "<option>width</option>" in page
    assert 'class="tag" href="/runs/?tag=bf16"' in page
