import pytest
from django.test import Client

from checkpoints.models import Checkpoint
from controlplane.common import tokens
from controlplane.common.models import Role
from tests.checkpoints.makers import begin, end, make_checkpoint, make_manifest, path_of, save
from tests.factories import make_attempt, make_run, make_user

pytestmark = pytest.mark.django_db
URL = "/api/v1/checkpoints"


def client_of(project, role: Role | None = Role.OPERATOR) -> Client:
    user = make_user(role, project)
    _, secret = tokens.issue_personal(user=user, name="test")
    return Client(headers={"Authorization": f"Bearer {secret}"})


def post(client: Client, checkpoint: Checkpoint, act: str, **body: object):
    url = f"{URL}/{checkpoint.pk}/{act}"
    return client.post(url, body, content_type="application/json")


@pytest.fixture
def checkpoint() -> Checkpoint:
    return make_checkpoint(step=100)


@pytest.fixture
def operator(checkpoint: Checkpoint) -> Client:
    return client_of(checkpoint.run.project)


@pytest.fixture
def viewer(checkpoint: Checkpoint) -> Client:
    return client_of(checkpoint.run.project, Role.VIEWER)


@pytest.fixture
def outsider() -> Client:
    return client_of(make_run().project)


def test_a_list_item_says_where_the_checkpoint_came_from(viewer: Client, checkpoint: Checkpoint):
    answer = viewer.get(URL).json()
    (item,) = answer["items"]
    assert answer["next"] is None
    assert (item["id"], item["run"], item["attempt"]) == (checkpoint.pk, checkpoint.run_id, 1)
    assert (item["step"], item["kind"], item["state"]) == (100, "anchor", "verified")
    assert item["path"] == checkpoint.path


def test_the_list_is_filtered_and_paged(viewer: Client, checkpoint: Checkpoint):
    for step in (200, 300):
        make_checkpoint(attempt=checkpoint.attempt, step=step, state="damaged")
    other = make_attempt(run=make_run(config=checkpoint.run.config))
    make_checkpoint(attempt=other, step=7)

    def steps(**query: object) -> list[int]:
        return [item["step"] for item in viewer.get(URL, query).json()["items"]]

    assert steps() == [7, 300, 200, 100]
    assert steps(state="damaged") == [300, 200]
    assert steps(run=checkpoint.run_id, state="verified") == [100]
    assert steps(kind="snapshot") == []
    assert steps(order="step") == [300, 200, 100, 7]
    first = viewer.get(URL, {"limit": 3, "order": "step"}).json()
    rest = viewer.get(URL, {"limit": 3, "order": "step", "cursor": first["next"]}).json()
    assert [item["step"] for item in rest["items"]] == [7]
    assert rest["next"] is None


@pytest.mark.parametrize("query", [{"state": "fine"}, {"kind": "x"}, {"limit": 0}])
def test_a_filter_that_means_nothing_is_a_problem_naming_it(viewer: Client, query: dict):
    answer = viewer.get(URL, query)
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["field"] == next(iter(query))


def test_an_outsider_sees_nothing(outsider: Client, checkpoint: Checkpoint):
    assert outsider.get(URL).json()["items"] == []
    for path in ("", "/lineage"):
        assert outsider.get(f"{URL}/{checkpoint.pk}{path}").status_code == 404
    for act in ("verify", "pin"):
        assert post(outsider, checkpoint, act).status_code == 404


def test_a_viewer_may_look_but_not_act(viewer: Client, checkpoint: Checkpoint):
    assert viewer.get(f"{URL}/{checkpoint.pk}").status_code == 200
    for act in ("verify", "pin"):
        answer = post(viewer, checkpoint, act)
        assert answer.status_code == 403
        assert answer["Content-Type"] == "application/problem+json"


def test_the_detail_has_the_proof_and_the_manifest_on_demand(viewer: Client, checkpoint):
    answer = viewer.get(f"{URL}/{checkpoint.pk}").json()
    assert answer["manifest"] is None
    (proof,) = answer["verifications"]
    assert (proof["state"], proof["verdict"]) == ("done", "pass")
    assert proof["findings"][0]["code"] == "CKPT-5.digest"
    answer = viewer.get(f"{URL}/{checkpoint.pk}", {"manifest": "true"}).json()
    assert answer["manifest"]["step"] == 100


def test_an_operator_asks_for_a_verification_and_twice_is_once(operator: Client, checkpoint):
    first = operator.post(f"{URL}/{checkpoint.pk}/verify", content_type="application/json")
    second = operator.post(f"{URL}/{checkpoint.pk}/verify", content_type="application/json")
    assert first.status_code == second.status_code == 202
    assert first.json()["id"] == second.json()["id"]
    assert first.json()["state"] == "requested"


def test_what_was_not_saved_is_a_conflict(operator: Client, checkpoint: Checkpoint):
    failed = make_checkpoint(attempt=checkpoint.attempt, step=200, state="failed")
    answer = operator.post(f"{URL}/{failed.pk}/verify", content_type="application/json")
    assert answer.status_code == 409
    assert "nothing to verify" in answer.json()["detail"]


def test_pin_and_unpin(operator: Client, checkpoint: Checkpoint):
    assert post(operator, checkpoint, "pin").json()["is_pinned"] is True
    assert post(operator, checkpoint, "pin", pinned=False).json()["is_pinned"] is False
    assert operator.get(URL, {"pinned": "true"}).json()["items"] == []


def test_the_lineage_joins_data_config_run_attempt_and_checkpoints(viewer: Client, checkpoint):
    end(checkpoint.attempt)
    attempt = make_attempt(run=checkpoint.run)
    begin(attempt, checkpoint)
    child = save(attempt, 150)
    graph = viewer.get(f"{URL}/{checkpoint.pk}/lineage").json()
    kinds = sorted(node["kind"] for node in graph["nodes"])
    assert kinds == sorted(["checkpoint"] * 2 + ["attempt"] * 2 + ["run", "config", "data"])
    relations = {
        node["checkpoint"]: node["relation"]
        for node in graph["nodes"]
        if node["kind"] == "checkpoint"
    }
    assert relations == {checkpoint.pk: "self", child.pk: "descendant"}
    edges = {(edge["from"], edge["to"], edge["kind"]) for edge in graph["edges"]}
    assert (f"checkpoint:{checkpoint.pk}", f"attempt:{attempt.pk}", "started") in edges
    assert (f"attempt:{attempt.pk}", f"checkpoint:{child.pk}", "saved") in edges
    assert (f"checkpoint:{checkpoint.pk}", f"checkpoint:{child.pk}", "parent") in edges
    assert (f"data:{checkpoint.data_version}", f"attempt:{attempt.pk}", "read") in edges


def test_the_list_costs_the_same_for_any_number(viewer, checkpoint, django_assert_num_queries):
    for step in range(200, 210):
        make_checkpoint(attempt=checkpoint.attempt, step=step)
    viewer.get(URL)  # the use of the token is noted once a minute
    with django_assert_num_queries(3):  # token; checkpoints; open verifications
        viewer.get(URL)


class TestRegister:
    """What pods send."""

    url = f"{URL}/register"

    def post(self, attempt, body: object, token: str | None = None):
        headers = {"Authorization": f"Bearer {token or attempt.token}"}
        client = Client(enforce_csrf_checks=True)
        return client.post(self.url, body, content_type="application/json", headers=headers)

    def body(self, attempt, **changes: object) -> dict:
        path = str(path_of(attempt, 100))
        return {"v": 1, "path": path, "manifest": make_manifest(100), "state": "complete"} | changes

    def test_a_save_is_registered_once(self):
        attempt = make_attempt()
        body = self.body(attempt)
        first, second = self.post(attempt, body), self.post(attempt, body)
        assert first.status_code == 200
        assert (
            first.json() == second.json() == {"v": 1, "id": first.json()["id"], "state": "complete"}
        )
        assert Checkpoint.objects.get().pk == first.json()["id"]

    def test_a_failed_save_is_kept_with_its_error(self):
        attempt = make_attempt()
        body = self.body(
            attempt, state="failed", manifest={"step": 100, "kind": "anchor"}, error="EACCES"
        )
        assert self.post(attempt, body).json()["state"] == "failed"
        assert Checkpoint.objects.get().error == "EACCES"

    def test_an_unknown_token_is_refused(self):
        attempt = make_attempt()
        answer = self.post(attempt, self.body(attempt), token="sha_nobody")
        assert answer.status_code == 401
        assert answer["Content-Type"] == "application/problem+json"

    def test_a_person_is_not_a_pod(self):
        attempt = make_attempt()
        _, secret = tokens.issue_personal(user=make_user(is_superuser=True), name="x")
        assert self.post(attempt, self.body(attempt), token=secret).status_code == 401
        assert Client().post(self.url).status_code == 401

    def test_an_ended_attempt_is_forbidden(self):
        attempt = make_attempt()
        end(attempt)
        answer = self.post(attempt, self.body(attempt))
        assert answer.status_code == 403
        assert answer.json()["type"] == "urn:safehold:problem:attempt-is-over"

    @pytest.mark.parametrize(
        ("changes", "status", "field"),
        [
            ({"path": "/etc"}, 422, "path"),
            ({"path": None}, 422, "path"),
            ({"manifest": []}, 422, "manifest"),
            ({"manifest": {}}, 422, "manifest"),
            ({"state": "stable"}, 422, "state"),
            ({"error": 7}, 422, "error"),
            ({"v": 99}, 426, None),
        ],
    )
    def test_a_bad_body_is_a_problem_naming_the_field(self, changes, status, field):
        attempt = make_attempt()
        answer = self.post(attempt, self.body(attempt, **changes))
        assert answer.status_code == status, answer.content
        if field:
            assert answer.json()["errors"][0]["field"] == field
        assert not Checkpoint.objects.exists()

    @pytest.mark.parametrize("body", ["", "[]", "{", '{"v": 1', "null", "\x00"])
    def test_what_is_no_map_is_a_problem(self, body: str):
        assert self.post(make_attempt(), body).status_code == 400

    def test_another_projects_attempt_cannot_be_written_to(self):
        mine, other = make_attempt(), make_attempt()
        answer = self.post(mine, self.body(mine, path=str(path_of(other, 100))))
        assert answer.status_code == 422
        assert answer.json()["type"] == "urn:safehold:problem:path-outside-attempt"
