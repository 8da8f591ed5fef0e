import base64
from pathlib import Path
from typing import Any

import pytest
import yaml

from safehold.kubeconfig import KubeconfigError, cluster_name, flattened


def document(**user: Any) -> dict[str, Any]:
    return {
        "apiVersion": "v1", "kind": "Config", "current-context": "me@lab",
        "clusters": [
            {"name": "lab", "cluster": {"server": "https://lab.example", "certificate-authority": "ca.crt"}},
            {"name": "other", "cluster": {"server": "https://other.example"}},
        ],
        "contexts": [
            {"name": "me@lab", "context": {"cluster": "lab", "user": "me", "namespace": "team"}},
            {"name": "other", "context": {"cluster": "other", "user": "robot"}},
        ],
        "users": [{"name": "me", "user": user}, {"name": "robot", "user": {"exec": {"command": "aws"}}}],
    }  # fmt: skip


def written(tmp_path: Path, content: Any, name: str = "config") -> Path:
    path = tmp_path / name
    path.write_text(yaml.safe_dump(content))
    return path


def test_files_are_put_in_and_other_contexts_left_out(tmp_path: Path) -> None:
    (tmp_path / "ca.crt").write_bytes(b"certificate")
    (tmp_path / "token").write_text("secret\n")
    found = flattened(written(tmp_path, document(tokenFile="token")))
    assert found["current-context"] == "me@lab"
    assert [one["name"] for one in found["clusters"]] == ["lab"]
    cluster = found["clusters"][0]["cluster"]
    assert base64.b64decode(cluster["certificate-authority-data"]) == b"certificate"
    assert found["users"][0]["user"] == {"token": "secret"}
    assert "_folder" not in str(found)


def test_a_program_is_refused_with_what_to_do_instead(tmp_path: Path) -> None:
    path = written(tmp_path, document(token="t"))
    with pytest.raises(KubeconfigError, match=r"robot .* program \(exec\).*service account"):
        flattened(path, "other")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("a", "is no kubeconfig"),
        ({}, "no current context"),
        ({"current-context": "x"}, "no entry 'x' under contexts"),
    ],
)
def test_what_cannot_be_used_says_why(tmp_path: Path, content: Any, message: str) -> None:
    with pytest.raises(KubeconfigError, match=message):
        flattened(written(tmp_path, content))


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(
        KubeconfigError, match="nowhere cannot be read: No such file or directory.$"
    ):
        flattened(tmp_path / "nowhere")
    with pytest.raises(KubeconfigError, match=r"ca\.crt, which the kubeconfig names"):
        flattened(written(tmp_path, document(token="t")))


def test_of_several_files_the_first_counts(tmp_path: Path) -> None:
    (tmp_path / "ca.crt").write_bytes(b"")
    first = written(
        tmp_path,
        {"current-context": "other", "users": [{"name": "robot", "user": {"token": "t"}}]},
        "a",
    )
    second = written(tmp_path, document(token="t"), "b")
    found = flattened(f"{first}:{second}")
    assert (found["current-context"], found["users"][0]["user"]) == ("other", {"token": "t"})


@pytest.mark.parametrize(
    ("context", "name"),
    [
        ("me@Prod/eu-1", "me-prod-eu-1"),
        ("x" * 60, "x" * 28),
        ("…", "kubeconfig"),
        ("kind-a", "kind-a"),
    ],
)
def test_a_context_becomes_a_name(context: str, name: str) -> None:
    assert cluster_name(context) == name
