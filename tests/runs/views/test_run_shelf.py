import json

import pytest
from django.test import Client

from controlplane.common.models import Role
from runs.models import Run, SavedView
from runs.services import run_labels
from tests.factories import make_attempt, make_run, make_user
from tests.runs.views.people import People


@pytest.fixture
def run(people: People) -> Run:
    return make_run(project=people.project, created_by=people.operator_user, name="wide")


@pytest.fixture
def admin(people: People) -> Client:
    client = Client()
    client.force_login(make_user(Role.ADMIN, people.project))
    return client


def chosen(client: Client, act: str, *runs: Run, **more: str) -> str:
    answer = client.post(
        f"/runs/chosen/{act}/", {"run": [run.pk for run in runs]} | more, follow=True
    )
    return answer.content.decode()


def test_chosen_runs_are_archived_together_or_not_at_all(people: People, run: Run) -> None:
    busy = make_run(project=people.project, created_by=people.operator_user)
    make_attempt(run=busy, state="running")
    assert "has not ended" in chosen(people.operator, "archive", run, busy)
    assert not Run.objects.filter(archived_at__isnull=False).exists()
    assert "Archived 1 run." in chosen(people.operator, "archive", run)
    assert "Brought 1 run back." in chosen(people.operator, "unarchive", run)


def test_labels_are_given_to_all_that_were_chosen(people: People, run: Run) -> None:
    other = make_run(project=people.project, created_by=people.operator_user, tags=["old"])
    chosen(people.operator, "label", run, other, group="width", tags="bf16, sweep", untags="old")
    assert list(Run.objects.order_by("pk").values_list("group", "tags")) == [
        ("width", ["bf16", "sweep"]),
        ("width", ["bf16", "sweep"]),
    ]


def test_chosen_runs_are_compared(people: People, run: Run) -> None:
    answer = people.viewer.post("/runs/chosen/compare/", {"run": [run.pk, run.pk + 1]})
    assert answer.status_code == 404
    answer = people.viewer.post("/runs/chosen/compare/", {"run": [run.pk]})
    assert answer["Location"] == f"/runs/compare/?run={run.pk}"


def test_what_is_compared_goes_from_the_older_to_the_newer(people: People, run: Run) -> None:
    newer = make_run(project=people.project, created_by=people.operator_user)
    answer = people.viewer.post("/runs/chosen/compare/", {"run": [newer.pk, run.pk]})
    assert answer["Location"] == f"/runs/compare/?run={run.pk}&run={newer.pk}"


def test_the_way_back_leads_to_our_own_list_only(people: People, run: Run) -> None:
    for asked, led in (
        ("/runs/?tag=a", "/runs/?tag=a"),
        ("//evil.test/runs/", "/runs/"),
        ("/x", "/runs/"),
    ):
        answer = people.operator.post("/runs/chosen/label/", {"run": [run.pk], "back": asked})
        assert answer["Location"] == led


def test_a_viewer_and_an_outsider_change_nothing(people: People, run: Run) -> None:
    for act in ("archive", "label", "delete"):
        chosen(people.viewer, act, run, group="x")
        assert people.outsider.post(f"/runs/chosen/{act}/", {"run": [run.pk]}).status_code == 404
    run.refresh_from_db()
    assert (run.archived_at, run.group, run.delete_after) == (None, "", None)
    assert people.operator.post("/runs/chosen/nonsense/", {"run": [run.pk]}).status_code == 404


def test_deletion_is_for_admins_and_says_when(people: People, admin: Client, run: Run) -> None:
    chosen(people.operator, "archive", run)
    assert "needs the role admin" in chosen(people.operator, "delete", run)
    chosen(admin, "delete", run, back=f"/runs/{run.pk}/")
    assert "It is to be deleted" in admin.get(f"/runs/{run.pk}/").content.decode()
    chosen(admin, "keep", run)
    run.refresh_from_db()
    assert run.delete_after is None


def test_an_archived_run_offers_no_launch(people: People, run: Run) -> None:
    assert 'data-act="launch"' in people.operator.get(f"/runs/{run.pk}/").content.decode()
    chosen(people.operator, "archive", run)
    page = people.operator.get(f"/runs/{run.pk}/").content.decode()
    assert 'data-act="launch"' not in page
    assert "Launch it when it is ready." not in page
    assert "Bring back from the archive" in page


def test_the_shelf_of_a_run_stands_in_the_line_of_its_labels(people: People, run: Run) -> None:
    chosen(people.operator, "archive", run)
    page = people.operator.get("/runs/?shelf=archived").content.decode()
    assert '<span class="run-labels"><span class="tag">archived</span>' in page


def test_labels_have_a_form_that_names_its_faults(people: People, run: Run) -> None:
    path = f"/runs/{run.pk}/labels/"
    assert 'value="wide"' in people.operator.get(path).content.decode()
    refused = people.operator.post(
        path, {"name": "two\nlines", "group": "", "tags": "x" * 41, "notes": ""}
    )
    assert refused.status_code == 422
    assert "one line of text" in refused.content.decode()
    people.operator.post(path, {"name": "narrow", "group": "w", "tags": "a b", "notes": "Slow."})
    run.refresh_from_db()
    assert (run.name, run.group, run.tags, run.notes) == ("narrow", "w", ["a", "b"], "Slow.")


def test_views_are_kept_shared_and_forgotten(people: People) -> None:
    save = {"name": "failed ones", "query": "state=failed&nonsense=1&cursor=x", "is_shared": "on"}
    answer = people.operator.post("/runs/views/save/", save)
    assert answer["Location"] == "/runs/?state=failed"
    assert "failed ones" in people.viewer.get("/runs/").content.decode()
    assert "failed ones" not in people.outsider.get("/runs/").content.decode()
    view = SavedView.objects.get()
    assert people.viewer.post(f"/runs/views/{view.pk}/remove/").status_code == 403
    assert people.outsider.post(f"/runs/views/{view.pk}/remove/").status_code == 404
    people.operator.post(f"/runs/views/{view.pk}/remove/")
    assert not SavedView.objects.exists()


def test_a_viewer_keeps_views_of_their_own(people: People) -> None:
    people.viewer.post("/runs/views/save/", {"name": "mine", "query": "q=a"})
    assert ">mine</a>" in people.viewer.get("/runs/").content.decode()
    assert ">mine</a>" not in people.operator.get("/runs/").content.decode()
    said = people.viewer.post("/runs/views/save/", {"name": "x", "is_shared": "on"}, follow=True)
    assert "needs the role operator" in said.content.decode()


def test_labels_that_somebody_else_changed_meanwhile_are_not_written_over_unasked(
    people: People, run: Run
) -> None:
    path = f"/runs/{run.pk}/labels/"
    page = people.operator.get(path).content.decode()
    version = page.split('name="version" value="')[1].split('"')[0]
    run_labels.label_run(run=run, user=people.operator_user, notes="Of a colleague.")
    typed = {"name": run.name, "notes": "Mine.", "version": version}
    refused = people.operator.post(path, typed)
    assert refused.status_code == 422
    told = refused.content.decode()
    assert "was changed after you read it: notes" in told
    assert "Mine." in told
    run.refresh_from_db()
    assert run.notes == "Of a colleague."
    again = told.split('name="version" value="')[1].split('"')[0]
    assert people.operator.post(path, typed | {"version": again}).status_code == 302
    run.refresh_from_db()
    assert run.notes == "Mine."


def test_a_view_that_another_tab_kept_meanwhile_is_not_written_over_unseen(people: People) -> None:
    seen = people.operator.get("/runs/?q=a").context["view_versions"]
    save = {"name": "mine", "query": "q=a", "seen": json.dumps(seen)}
    people.operator.post("/runs/views/save/", save)
    refused = people.operator.post("/runs/views/save/", save | {"query": "q=b"}, follow=True)
    assert refused.redirect_chain == [("/runs/?q=b", 302)]
    assert "mine was changed after you read it" in refused.content.decode()
    assert SavedView.objects.get().query == "q=a"
    seen = refused.context["view_versions"]
    people.operator.post("/runs/views/save/", save | {"query": "q=b", "seen": json.dumps(seen)})
    assert SavedView.objects.get().query == "q=b"
