import gzip
import json
from pathlib import Path

import jsonschema
import pytest

from tests.workers.kube.test_objects import PLACE, options, spec
from workers.kube import names
from workers.kube.forms import FORMS, form_of, served
from workers.launchers.base import LauncherError

SCHEMAS = Path(__file__).parents[2] / "cases" / "crds"
EVERYTHING = {
    "queue": "research", "image": "train:2", "cpu": "8", "memory": "64Gi", "runtime": "torch-distributed",
    "node_selector": {"gpu": "h100"}, "service_account": "trainer", "deadline_seconds": 60,
    "tolerations": [{"key": "gpu", "operator": "Equal", "value": "yes"}], "pull_secrets": ["regcred"],
    "volumes": [{"mount_path": "/data", "claim": "corpus"}], "affinity": {"podAffinity": {}},
    "env": {"NCCL_DEBUG": "INFO"}, "secret_env": {"HF_TOKEN": "hub/token"},
}  # fmt: skip


def schema(name):
    return closed(json.loads(gzip.decompress((SCHEMAS / f"{name}.json.gz").read_bytes())))


def closed(node):
    """As the server's strict validation: a field that the schema does not know is a fault."""
    if isinstance(node, list):
        return [closed(item) for item in node]
    if not isinstance(node, dict):
        return node
    made = {key: closed(value) for key, value in node.items()}
    if "properties" in node and isinstance(node["properties"], dict):
        keeps = node.get("x-kubernetes-preserve-unknown-fields")
        if not keeps and "additionalProperties" not in node:
            made["additionalProperties"] = False
    if node.get("x-kubernetes-int-or-string"):
        made.pop("type", None)
    return made


@pytest.mark.parametrize("name", ["jobset", "trainjob"])
def test_the_published_schema_takes_what_we_build(name):
    form, known = FORMS[name], schema(name)
    known["properties"]["metadata"] = {}
    for chosen in (options(**EVERYTHING), options(runtime="torch-distributed")):
        jsonschema.validate(form.build(spec(), chosen, PLACE), known)
    jsonschema.validate(form.tombstone("safehold-r1-a1", PLACE), known)


@pytest.mark.parametrize("name", sorted(FORMS))
def test_every_form_starts_suspended_in_a_queue_and_never_retries_by_itself(name):
    item = FORMS[name].build(spec(), options(**EVERYTHING), PLACE)
    assert item["metadata"]["labels"][names.QUEUE] == "research"
    read = FORMS[name].as_job(item)
    assert read["spec"]["suspend"] is True
    assert read["spec"]["completions"] == 2
    assert '"maxRestarts": 1' not in json.dumps(item)


@pytest.mark.parametrize("name", sorted(FORMS))
def test_the_pods_of_every_form_carry_our_labels_and_meet_at_the_first(name):
    text = json.dumps(FORMS[name].build(spec(), options(runtime="r"), PLACE))
    assert f'"{names.WORKLOAD}": "safehold-r1-a2"' in text
    first = {"job": "safehold-r1-a2-0"}.get(name, "safehold-r1-a2-node-0-0")
    assert f"{first}.safehold-r1-a2:29500" in text
    assert "sha_secret" not in text


@pytest.mark.parametrize(
    ("name", "condition", "expected"),
    [
        ("jobset", {"type": "Completed", "status": "True"}, "Complete"),
        ("jobset", {"type": "Failed", "status": "True"}, "Failed"),
        ("trainjob", {"type": "Complete", "status": "True"}, "Complete"),
        ("trainjob", {"type": "Failed", "status": "True"}, "Failed"),
    ],
)
def test_the_ends_of_other_forms_read_as_those_of_a_job(name, condition, expected):
    item = FORMS[name].build(spec(), options(runtime="r"), PLACE)
    item["status"] = {"conditions": [{"type": "Suspended", "status": "False"}, condition]}
    assert [c["type"] for c in FORMS[name].as_job(item)["status"]["conditions"]] == [expected]


def test_a_train_job_without_a_runtime_is_refused_with_the_field():
    with pytest.raises(LauncherError, match="kubernetes.runtime"):
        FORMS["trainjob"].build(spec(), options(), PLACE)


def test_only_served_forms_are_looked_for():
    assert served([]) == [FORMS["job"]]
    assert len(served(["jobset.x-k8s.io", "trainer.kubeflow.org"])) == 3
    assert form_of(options(workload="jobset")) is FORMS["jobset"]
