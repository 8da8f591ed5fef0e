"""The command that the objects give a container is one that the wrapper understands."""

import dataclasses

import pytest

from safehold.wrapper.options import Options, parse, root_command
from tests.workers.kube.test_objects import PLACE, options, spec
from workers.kube.forms import FORMS
from workers.kube.objects import RENDEZVOUS_PORT


def container_of(form: str, launched):
    item = FORMS[form].build(launched, options(workload=form, runtime="torch"), PLACE)
    if form == "trainjob":
        return item["spec"]["trainer"]
    child = item["spec"]["replicatedJobs"][0]["template"] if form == "jobset" else item
    return child["spec"]["template"]["spec"]["containers"][0]


def parsed(container, pod: str, index: int) -> Options:
    """Parse what Kubernetes makes of the command: `$(NAME)` is replaced by the environment."""
    values = {entry["name"]: entry.get("value", "") for entry in container["env"]}
    values |= {"SAFEHOLD_POD": pod, "JOB_COMPLETION_INDEX": str(index)}
    words = [word.replace("$(SAFEHOLD_POD)", pod) for word in container["command"]]
    assert words[:3] == ["python", "-m", "safehold.wrapper"]
    return parse(words[3:], values)


@pytest.mark.parametrize(
    ("form", "first_pod"),
    [
        ("job", "safehold-r1-a2-0.safehold-r1-a2"),
        ("jobset", "safehold-r1-a2-node-0-0.safehold-r1-a2"),
        ("trainjob", "safehold-r1-a2-node-0-0.safehold-r1-a2"),
    ],
)
def test_the_wrapper_parses_exactly_the_command_of_every_form(form, first_pod):
    found = parsed(container_of(form, spec(grace_seconds=90)), "safehold-r1-a2-1-x7x", 1)
    told = {field.name: getattr(found, field.name) for field in dataclasses.fields(found)}
    assert str(told.pop("folder")) == "/var/safehold/safehold-r1-a2-1-x7x"
    assert told == {
        "command": ("python", "-m", "safehold.reference.train"),
        "num_ranks": 8,
        "num_nodes": 2,
        "node_rank": 1,
        "endpoint": f"{first_pod}:{RENDEZVOUS_PORT}",
        "grace_seconds": 90.0,
        "ship_seconds": 600.0,
        "meet_seconds": 900.0,
    }


def test_the_wrapper_starts_torchrun_with_the_pods_own_node_rank():
    found = parsed(container_of("job", spec()), "a-1", 1)
    command = root_command(dataclasses.replace(found, endpoint="10.0.0.7:29500"))
    for word in ("--nproc-per-node=8", "--nnodes=2", "--node-rank=1", "--max-restarts=0"):
        assert word in command
    assert {"--master-addr=10.0.0.7", "--master-port=29500"} <= set(command)


def test_a_program_of_its_own_is_started_as_it_is():
    found = parsed(container_of("job", spec(command=("/opt/train", "--fast"))), "a-0", 0)
    assert found.command == ("/opt/train", "--fast")
