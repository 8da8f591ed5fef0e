"""Freeze, ask, approve; what changes and why; the rulebook: by the API."""

from collections.abc import Callable
from typing import Any

import pytest

from controlplane.common.models import AuditEntry, Project, Role
from runs.models import Config
from tests.factories import make_user
from tests.runs.api.callers import Api
from tests.runs.proven import prove

Document = Callable[..., dict[str, Any]]


@pytest.fixture
def approver(project: Project) -> Api:
    return Api(make_user(Role.APPROVER, project))


@pytest.fixture
def config(operator: Api, document: Document) -> int:
    made = operator.post("configs", {"document": document(kind="production")}).json()["id"]
    assert operator.post(f"configs/{made}/freeze").status_code == 200
    prove(Config.objects.get(pk=made))
    return int(made)


def test_asked_and_approved_by_a_second_person(operator: Api, approver: Api, config: int) -> None:
    asked = operator.post(f"configs/{config}/request-approval", {"note": "For the long run."})
    assert (asked.status_code, asked.json()["state"]) == (201, "requested")
    assert operator.post(f"configs/{config}/request-approval").json()["id"] == asked.json()["id"]
    assert operator.post(f"configs/{config}/approve").status_code == 403
    given = approver.post(f"configs/{config}/approve", {"reason": "Seen."}).json()
    assert (given["state"], given["decided_by"]) == ("approved", approver.user.username)
    assert operator.get(f"configs/{config}").json()["approval"] == "approved"
    assert AuditEntry.objects.filter(action="config.approve").count() == 1
    assert approver.post(f"configs/{config}/approve").status_code == 409


@pytest.mark.parametrize("act", ["approve", "reject", "withdraw-approval"])
def test_a_decision_counts_for_the_request_that_was_looked_at(
    operator: Api, approver: Api, config: int, act: str
) -> None:
    seen = operator.post(f"configs/{config}/request-approval").json()["id"]
    operator.post(f"configs/{config}/withdraw-approval", {"reason": "Another base."})
    now = operator.post(f"configs/{config}/request-approval").json()["id"]
    refused = approver.post(f"configs/{config}/{act}", {"reason": "Seen.", "approval": seen})
    assert (refused.status_code, "asked for anew" in refused.json()["detail"]) == (409, True)
    taken = approver.post(f"configs/{config}/{act}", {"reason": "Seen.", "approval": now})
    assert taken.status_code == 200


def test_an_approval_is_refused_with_the_findings_that_block_it(
    operator: Api, approver: Api, document: Document
) -> None:
    made = operator.post("configs", {"document": document(kind="production")}).json()["id"]
    operator.post(f"configs/{made}/freeze")
    operator.post(f"configs/{made}/request-approval")
    refused = approver.post(f"configs/{made}/approve")
    problem = refused.json()
    assert (refused.status_code, problem["type"]) == (409, "urn:safehold:problem:approval-blocked")
    assert [one["code"] for one in problem["findings"]] == ["CONF-3.proven_batch_and_lr"]
    assert "was not proven by a finished run" in problem["hint"]
    assert operator.get(f"configs/{made}").json()["approval"] == "requested"


def test_an_approver_does_not_approve_what_is_his(
    approver: Api, document: Document, project: Project
) -> None:
    made = approver.post(
        "configs", {"document": document(kind="production"), "project": project.slug}
    ).json()["id"]
    approver.post(f"configs/{made}/freeze")
    approver.post(f"configs/{made}/request-approval")
    refused = approver.post(f"configs/{made}/approve")
    assert (refused.status_code, refused.json()["type"]) == (
        403,
        "urn:safehold:problem:second-person-needed",
    )


def test_refused_and_taken_back(operator: Api, approver: Api, config: int) -> None:
    operator.post(f"configs/{config}/request-approval")
    assert approver.post(f"configs/{config}/reject", {"reason": ""}).status_code == 422
    assert (
        approver.post(f"configs/{config}/reject", {"reason": "The rate."}).json()["state"]
        == "rejected"
    )
    operator.post(f"configs/{config}/request-approval")
    taken = operator.post(f"configs/{config}/withdraw-approval", {"reason": "A fault."}).json()
    assert taken["state"] == "withdrawn"
    states = [one["state"] for one in operator.get(f"configs/{config}/approvals").json()["items"]]
    assert states == ["withdrawn", "rejected"]
    assert approver.post(f"configs/{config}/approve").status_code == 404


def test_experiments_and_open_configs_are_not_approved(operator: Api, document: Document) -> None:
    made = operator.post("configs", {"document": document()}).json()["id"]
    refused = operator.post(f"configs/{made}/request-approval")
    assert (refused.status_code, "experiment" in refused.json()["detail"]) == (409, True)


def test_configs_are_listed_by_kind_and_approval(
    operator: Api, config: int, document: Document, django_assert_max_num_queries: Any
) -> None:
    operator.post(f"configs/{config}/request-approval")
    for number in range(5):
        operator.post("configs", {"document": document(name=f"e{number}")})
    with django_assert_max_num_queries(8):
        found = operator.get("configs", approval="requested").json()["items"]
    assert [(one["id"], one["approval"]) for one in found] == [(config, "requested")]
    experiments = operator.get("configs", kind="experiment").json()["items"]
    assert len(experiments) == 6  # with the one that proved the other


def two_variables(operator: Api, document: Document) -> int:
    before = operator.post("configs", {"document": document()}).json()["id"]
    changed = document(optimizer__lr=2e-4, optimizer__min_lr=2e-5, train__seed=5)
    after = operator.post("configs", {"document": changed, "parent": before}).json()["id"]
    return int(operator.post("runs", {"config": after}).json()["id"])


def test_more_than_one_variable_needs_a_reason_which_is_kept(
    operator: Api, document: Document
) -> None:
    run = two_variables(operator, document)
    refused = operator.post(f"runs/{run}/launch")
    assert refused.status_code == 422
    assert [one["title"] for one in refused.json()["factors"]] == ["Peak learning rate", "Seed"]
    assert operator.post(f"runs/{run}/launch", {"reason": "A new baseline."}).status_code == 202
    change = operator.get(f"runs/{run}/record").json()["change"]
    assert (change["num_factors"], change["reason"]) == (2, "A new baseline.")
    assert change["factors"][0]["following"] == ["optimizer.min_lr"]
    assert change["reason_by"] == operator.user.username
    assert AuditEntry.objects.filter(action="run.change_reason").count() == 1


def test_the_difference_says_what_counts(operator: Api, document: Document) -> None:
    one = operator.post("configs", {"document": document()}).json()["id"]
    other = operator.post(
        "configs", {"document": document(train__global_batch=16, train__accumulation=2, name="b")}
    ).json()["id"]
    found = operator.get(f"configs/{one}/diff", other=other).json()
    assert (found["num_factors"], found["verdict"]) == (1, "one variable changed: Global batch")
    notes = {change["path"]: change["note"] for change in found["changes"]}
    assert notes["train.global_batch"] == ""
    assert "portions" in notes["train.accumulation"]
    batch = next(change for change in found["changes"] if change["path"] == "train.global_batch")
    assert (batch["unit"], batch["growth"]) == ("sequences", 2)


def test_what_a_run_was_launched_with(operator: Api, document: Document) -> None:
    made = operator.post("configs", {"document": document(data__mix={"web": 1.0})}).json()
    run = operator.post("runs", {"config": made["id"]}).json()["id"]
    record = operator.get(f"runs/{run}/record").json()
    assert record["config_hash"] == made["hash"]
    assert record["tokenizer_digest"] == made["document"]["tokenizer"]["digest"]
    assert record["mix_version"].startswith("blake3:")
    assert (record["seed"], record["code_commit"], record["change"]) == (0, "", None)


@pytest.mark.parametrize("form", ["yaml", "json", "toml"])
def test_a_text_is_stored_as_it_means(
    operator: Api, document: Document, project: Project, form: str
) -> None:
    import json

    import yaml

    from safehold.config import to_toml

    write = {"yaml": yaml.safe_dump, "json": json.dumps, "toml": to_toml}[form]
    body = {"text": write(document()), "format": form, "project": project.slug}
    stored = operator.post("configs", body)
    assert stored.status_code == 201
    assert (
        stored.json()["hash"] == operator.post("configs", {"document": document()}).json()["hash"]
    )


def test_the_rulebook_is_read_by_members_and_set_by_approvers(
    operator: Api, approver: Api, outsider: Api, project: Project
) -> None:
    rules = {one["id"]: one for one in operator.get("rulebook").json()["items"]}
    assert rules["warmup.pretrain_1b"]["span"] == "at least 2,000"
    assert all(one["reason"] and one["source"] for one in rules.values())
    body = {"low": 0, "high": 0.3, "reason": "Ours."}
    assert operator.patch("rulebook/weight_decay.any", body).status_code == 403
    changed = approver.patch("rulebook/weight_decay.any", body).json()
    assert (changed["high"], changed["is_own"], changed["written_high"]) == (0.3, True, 0.1)
    assert approver.patch("rulebook/no.such", body).status_code == 404
    assert (
        approver.patch("rulebook/clip.any", {"low": 2, "high": 1, "reason": "x"}).status_code == 422
    )
    assert outsider.get("rulebook", project=project.slug).status_code == 404
    assert approver.client.delete("/api/v1/rulebook/weight_decay.any").status_code == 204
    assert AuditEntry.objects.filter(action__startswith="rulebook.").count() == 2
