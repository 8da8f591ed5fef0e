import json
from pathlib import Path

from tests.fakes.kube import answers
from tests.workers.kube.test_objects import JOB_FORM, PLACE, options, spec
from workers.kube.kinds import JOB
from workers.kube.survey import survey

ANSWERS = Path(__file__).parents[2] / "cases" / "kubernetes-recordings" / "answers.json"


def test_devices_are_counted_by_type_with_what_we_hold(cluster, kube):
    kube.create(JOB, "team", JOB_FORM.build(spec(devices=4, nodes=1), options(), PLACE))
    cluster.tick()
    found = survey(kube, "team")
    assert found.version == "v1.36.2"
    assert found.capacity == {"NVIDIA-H100-80GB-HBM3": 16}
    assert [node.num_ours for node in found.nodes] == [4, 0]


def test_a_silent_or_cordoned_node_gives_no_capacity(cluster, kube):
    cluster.controllers.cut_off.add("gpu-node-0")
    cluster.tick(1)
    cluster.tick(60)
    found = survey(kube, "team")
    assert found.capacity == {"NVIDIA-H100-80GB-HBM3": 8}
    assert [(node.is_ready, node.reason) for node in found.nodes] == [
        (False, "NodeStatusUnknown"),
        (True, ""),
    ]


def test_without_the_right_to_see_nodes_capacity_is_unknown_and_not_zero(cluster, kube):
    refused = answers.status(403, "Forbidden", "nodes is forbidden")
    cluster.fail(lambda r: r.resource and r.resource.plural == "nodes", times=9, before=refused)
    assert survey(kube, "team").nodes is None


def test_queues_are_listed_where_kueue_is_served(cluster, kube):
    assert survey(kube, "team").queues == ()
    cluster.server.custom_groups = frozenset({"kueue.x-k8s.io"})
    queues = next(r for r in cluster.server.resources if r.plural == "localqueues")
    cluster.store.create(queues, "team", {"metadata": {"name": "research"}}, dry_run=False)
    assert survey(kube, "team").queues == ("research",)


def test_a_recorded_node_list_is_read(cluster, kube):
    recorded = json.loads(ANSWERS.read_text())["nodes"]["body"]["items"]
    nodes = next(r for r in cluster.server.resources if r.plural == "nodes")
    for node in recorded:
        cluster.store.create(
            nodes, "", node | {"metadata": node["metadata"] | {"name": f"real-{node['metadata']['name']}"}},
            dry_run=False,
        )  # fmt: skip
    real = [node for node in survey(kube, "team").nodes if node.name.startswith("real-")]
    assert all(node.device == "NVIDIA-H100-80GB-HBM3" for node in real)
    assert all(node.num_devices == 8 and node.is_ready for node in real)
