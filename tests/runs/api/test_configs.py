from collections.abc import Callable
from typing import Any

import pytest

from runs.models import Config
from safehold.config import config_hash, parse, to_toml
from tests.runs.api.callers import Api

Document = Callable[..., dict[str, Any]]


def test_document_and_toml_are_one_config(operator: Api, document: Document) -> None:
    by_document = operator.post("configs", {"document": document()}).json()
    by_toml = operator.post("configs", {"toml": by_document["toml"]}).json()
    assert by_document["hash"] == by_toml["hash"] == config_hash(parse(document()))
    assert by_document["document"]["train"]["precision"] == "bf16"


def test_the_hash_of_the_stored_document_is_the_name(operator: Api, document: Document) -> None:
    made = operator.post(
        "configs", {"document": document(optimizer__eps=1e-12, optimizer__clip=1)}
    ).json()
    stored = Config.objects.get(pk=made["id"])
    assert config_hash(stored.document) == stored.hash == made["hash"]


def test_every_fault_is_told_by_field(operator: Api, document: Document) -> None:
    refused = operator.post("configs", {"document": document(optimizer__lr="3e-4", train__steps=0)})
    assert refused.status_code == 422
    assert {one["field"] for one in refused.json()["errors"]} == {"optimizer.lr", "train.steps"}
    assert not Config.objects.exists()


def test_toml_faults_have_their_line(operator: Api, document: Document) -> None:
    toml = to_toml(parse(document())).replace("lr = 0.0003", 'lr = "3e-4"')
    (error,) = operator.post("configs", {"toml": toml}).json()["errors"]
    line = toml.split("\n").index('lr = "3e-4"') + 1
    assert error["field"] == "optimizer.lr"
    assert f"Line {line}" in error["message"]


def test_a_document_that_is_stored_already_is_told_of(operator: Api, document: Document) -> None:
    first = operator.post("configs", {"document": document()}).json()
    again = operator.post("configs", {"document": document()}).json()
    other = operator.post("configs", {"document": document(train__seed=2)}).json()
    assert (first["same_as"], again["same_as"], other["same_as"]) == (None, first["id"], None)


@pytest.mark.parametrize("body", [{}, {"document": {}, "toml": ""}])
def test_one_form_is_given(operator: Api, body: dict[str, Any]) -> None:
    refused = operator.post("configs", body)
    assert refused.status_code == 422
    assert "give one of document, toml and text" in refused.json()["detail"]


def test_the_difference_names_more_than_one_variable(operator: Api, document: Document) -> None:
    a = operator.post("configs", {"document": document()}).json()["id"]
    b = operator.post(
        "configs", {"document": document(optimizer__lr=1e-4, name="other"), "parent": a}
    ).json()["id"]
    c = operator.post("configs", {"document": document(optimizer__lr=1e-4, train__seed=1)}).json()[
        "id"
    ]
    one = operator.get(f"configs/{a}/diff", other=b).json()
    assert [change["path"] for change in one["changes"]] == ["name", "optimizer.lr"]
    assert one["more_than_one"] is False
    assert operator.get(f"configs/{a}/diff", other=c).json()["more_than_one"] is True


def test_freezing_twice_changes_nothing(operator: Api, document: Document) -> None:
    number = operator.post("configs", {"document": document()}).json()["id"]
    first = operator.post(f"configs/{number}/freeze").json()
    assert first["frozen_at"]
    assert operator.post(f"configs/{number}/freeze").json() == first


def test_the_schema_describes_every_field(operator: Api) -> None:
    schema = operator.get("configs/schema").json()
    assert schema["$defs"]["Optimizer"]["properties"]["lr"]["title"] == "Peak learning rate"


def test_a_list_leaves_documents_out(operator: Api, document: Document) -> None:
    operator.post("configs", {"document": document()})
    (item,) = operator.get("configs").json()["items"]
    assert "document" not in item
