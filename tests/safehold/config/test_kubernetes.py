from typing import Any

import pytest

from safehold.config import (
    ConfigInvalid,
    RunConfig,
    canonical_document,
    config_hash,
    diff,
    parse,
    read_text,
    to_toml,
    validate,
)
from tests.safehold.documents import make_config, make_document

VOLUME = {"mount_path": "/checkpoints", "claim": "checkpoints"}


def kubernetes(**changes: Any) -> dict[str, Any]:
    given = {f"kubernetes__{name}": value for name, value in changes.items()}
    return make_document(compute__launcher="kubernetes", **given)


def paths(document: dict[str, Any]) -> list[str]:
    return [error.path for error in validate(document)]


def test_a_document_of_another_launcher_is_what_it_was_before_the_section_came() -> None:
    document = canonical_document(make_config())
    assert "kubernetes" not in document
    assert config_hash(document) == config_hash(make_config())
    assert "kubernetes" not in to_toml(make_config()).split("[compute]")[1]


def test_a_section_that_is_left_out_gets_its_defaults_once() -> None:
    document = canonical_document(parse(kubernetes()))
    assert document["kubernetes"]["pending_seconds"] == 900
    assert document == canonical_document(parse(kubernetes(workload="job")))
    assert canonical_document(parse(document)) == document


def test_toml_with_volumes_and_affinity_reads_back() -> None:
    affinity = {
        "nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"a": [1, {"b": "c"}]}}
    }
    config = parse(
        kubernetes(
            volumes=[VOLUME, {"mount_path": "/cache", "size": "10Gi"}],
            tolerations=[{"key": "gpu", "effect": "NoSchedule"}], affinity=affinity,
            env={"NCCL_DEBUG": "INFO"}, secret_env={"HF_TOKEN": "hugging/token"},
        )
    )  # fmt: skip
    assert read_text(to_toml(config)) == config
    assert read_text(to_toml(canonical_document(config))) == config


def test_a_change_in_the_section_is_a_change() -> None:
    a, b = parse(kubernetes(image="a:1")), parse(kubernetes(image="a:2"))
    assert [(one.path, one.old, one.new) for one in diff(a, b)] == [
        ("kubernetes.image", "a:1", "a:2")
    ]
    assert config_hash(a) != config_hash(b)


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        (make_document(kubernetes={}), "kubernetes"),
        (kubernetes(workload="trainjob"), "kubernetes.runtime"),
        (kubernetes(runtime="torch"), "kubernetes.runtime"),
        (kubernetes(volumes=[VOLUME | {"host_path": "/x"}]), "kubernetes.volumes.0"),
        (kubernetes(volumes=[VOLUME | {"size": "1Gi"}]), "kubernetes.volumes.0.size"),
        (kubernetes(volumes=[VOLUME, {"mount_path": "/tmp/"}]), "kubernetes.volumes.1.mount_path"),
        (kubernetes(env={"A": "1"}, secret_env={"A": "s/k"}), "kubernetes.secret_env.A"),
        (kubernetes(env={"RANK": "1"}), "kubernetes.env.RANK"),
        (kubernetes(memory="lots"), "kubernetes.memory"),
        (kubernetes(imagge="x"), "kubernetes.imagge"),
    ],
)
def test_what_cannot_work_names_its_field(document: dict[str, Any], expected: str) -> None:
    assert paths(document) == [expected]


def test_two_volumes_at_one_place_are_both_told() -> None:
    assert paths(kubernetes(volumes=[VOLUME, VOLUME])) == [
        "kubernetes.volumes.0.mount_path",
        "kubernetes.volumes.1.mount_path",
    ]


def test_a_misspelt_field_is_guessed() -> None:
    (error,) = validate(kubernetes(imagge="x"))
    assert error.hint == "Did you mean kubernetes.image?"


def test_null_is_no_value() -> None:
    with pytest.raises(ConfigInvalid, match="leave the section out"):
        parse(make_document(kubernetes=None))


def test_the_line_of_a_fault_in_a_list_of_tables_is_told() -> None:
    text = to_toml(parse(kubernetes(volumes=[VOLUME, {"mount_path": "/cache"}])))
    broken = text.replace('"/cache"', '"cache"')
    with pytest.raises(ConfigInvalid) as caught:
        read_text(broken)
    (error,) = caught.value.errors
    assert error.path == "kubernetes.volumes.1.mount_path"
    assert error.line == broken.split("\n").index('mount_path = "cache"') + 1


def test_the_schema_for_editors_has_the_section() -> None:
    assert "Kubernetes" in RunConfig.model_json_schema()["$defs"]
