import pytest

from controlplane.common.models import Project, Role
from runs.models import Run
from tests.factories import make_run, make_user
from tests.runs.api.callers import Api


@pytest.fixture
def run(project: Project) -> Run:
    return make_run(project=project, name="wide")


@pytest.fixture
def admin(project: Project) -> Api:
    return Api(make_user(Role.ADMIN, project))


def test_labels_are_changed_one_by_one(operator: Api, run: Run) -> None:
    changed = operator.patch(f"runs/{run.pk}", {"tags": ["#a", "b"], "group": "g"}).json()
    assert (changed["tags"], changed["group"], changed["name"]) == (["a", "b"], "g", "wide")
    assert operator.patch(f"runs/{run.pk}", {"notes": "Slow."}).json()["notes"] == "Slow."
    assert operator.get("runs", tag="a", group="g").json()["items"][0]["id"] == run.pk
    assert operator.get("runs", tag="c").json()["items"] == []


@pytest.mark.parametrize(
    ("body", "field"),
    [({"name": "a\nb"}, "name"), ({"tags": ["a b"]}, "tags"), ({"name": ""}, "name"), ({"nmae": "a"}, "nmae"),
     ({"name": True}, "name"), ({"tags": "a"}, "tags")],
)  # fmt: skip
def test_what_cannot_be_a_label_is_refused(
    operator: Api, run: Run, body: object, field: str
) -> None:
    refused = operator.patch(f"runs/{run.pk}", body)
    assert refused.status_code == 422
    assert [one["field"] for one in refused.json()["errors"]] == [field]


def test_a_run_goes_to_the_archive_and_is_deleted_by_an_admin(
    operator: Api, admin: Api, run: Run
) -> None:
    assert admin.client.delete(f"/api/v1/runs/{run.pk}").status_code == 409
    assert operator.post(f"runs/{run.pk}/archive").json()["archived_at"]
    assert operator.get("runs").json()["items"] == []
    assert operator.get("runs", shelf="archived").json()["items"][0]["id"] == run.pk
    assert operator.client.delete(f"/api/v1/runs/{run.pk}").status_code == 403
    marked = admin.client.delete(f"/api/v1/runs/{run.pk}")
    assert (marked.status_code, bool(marked.json()["delete_after"])) == (202, True)
    assert admin.post(f"runs/{run.pk}/keep").json()["delete_after"] is None
    assert operator.post(f"runs/{run.pk}/unarchive").json()["archived_at"] is None


def test_a_viewer_labels_nothing(viewer: Api, run: Run) -> None:
    assert viewer.patch(f"runs/{run.pk}", {"group": "g"}).status_code == 403
    assert viewer.post(f"runs/{run.pk}/archive").status_code == 403


def test_a_name_of_two_lines_makes_no_run(operator: Api, run: Run) -> None:
    refused = operator.post("runs", {"config": run.config_id, "name": "a\nb"})
    assert (refused.status_code, refused.json()["errors"][0]["field"]) == (422, "name")


@pytest.mark.parametrize("body", [{"config": True}, {"config": {}}, {"config": "x"}])
def test_what_is_no_id_is_refused_by_field(operator: Api, body: object) -> None:
    refused = operator.post("runs", body)
    assert (refused.status_code, refused.json()["errors"][0]["field"]) == (422, "config")


def test_views_are_kept_listed_and_forgotten(operator: Api, viewer: Api, outsider: Api) -> None:
    body = {"name": "failed", "query": "state=failed&x=1", "is_shared": True}
    made = operator.post("views", body).json()
    assert (made["query"], made["owner"]) == ("state=failed", operator.user.username)
    assert operator.post("views", body | {"query": "q=a"}).json()["id"] == made["id"]
    assert [view["name"] for view in viewer.get("views").json()["items"]] == ["failed"]
    assert outsider.get("views").json()["items"] == []
    assert viewer.client.delete(f"/api/v1/views/{made['id']}").status_code == 403
    assert operator.client.delete(f"/api/v1/views/{made['id']}").status_code == 204
