from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import helm_python
import pytest
from kubernetes import client

from controlplane import health
from controlplane.service import commands
from tests.helm.conftest import CHART, VALUE_SETS, rendered

every_set = pytest.mark.parametrize("values", VALUE_SETS.values(), ids=VALUE_SETS.keys())


def pods(items):
    """(name, pod spec) of everything that makes pods."""
    for item in items:
        template = item.get("spec", {}).get("template")
        if isinstance(template, dict) and "spec" in template:
            yield item["metadata"]["name"], template["spec"]


@every_set
def test_the_chart_lints(values):
    report = helm_python.lint(CHART, values=values)
    assert report["errors"] == []


@every_set
def test_every_object_fits_its_published_schema(chart, values):
    for item in rendered(chart, values):
        group, _, version = item["apiVersion"].rpartition("/")
        model = getattr(client, f"{version.capitalize()}{item['kind']}")
        made = model.model_validate(item)
        assert made.metadata.name.startswith(("demo", "ops-demo")), group


@every_set
def test_names_are_unique_and_labels_tell_the_release(chart, values):
    items = rendered(chart, values)
    keys = [
        (item["kind"], item["metadata"].get("namespace"), item["metadata"]["name"])
        for item in items
    ]
    assert len(keys) == len(set(keys))
    assert all(i["metadata"]["labels"]["app.kubernetes.io/instance"] == "demo" for i in items)


@every_set
def test_every_pod_passes_the_restricted_standard(chart, values):
    for name, pod in pods(rendered(chart, values)):
        assert pod["securityContext"]["runAsNonRoot"] is True, name
        assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
        for container in pod["containers"]:
            assert container["securityContext"]["allowPrivilegeEscalation"] is False
            assert container["securityContext"]["capabilities"] == {"drop": ["ALL"]}
            assert "limits" in container["resources"]


def test_the_processes_are_started_as_on_one_machine(chart):
    found = {name: pod["containers"][0] for name, pod in pods(rendered(chart, {}))}
    expected = {
        "demo-web": [*commands.web(8000, "0.0.0.0"), "20"],
        "demo-worker": commands.worker(4),
        "demo-verifier": commands.verifier(2),
        "demo-beat": commands.beat(Path("/var/lib/safehold/beat-schedule")),
        "demo-watcher": commands.watcher(),
    }
    for name, (_python, *rest) in expected.items():
        assert found[name]["command"] == ["python", *rest], name
    web = {one["name"]: one.get("value") for one in found["demo-web"]["env"]}
    assert web["FORWARDED_ALLOW_IPS"] == "*"


def test_web_pods_are_not_taken_out_for_a_worker_that_is_away(chart):
    web = dict(pods(rendered(chart, {})))["demo-web"]["containers"][0]
    asked = parse_qs(urlsplit(web["readinessProbe"]["httpGet"]["path"]).query)["part"][0]
    assert "worker" not in health._PARTS[asked]


@every_set
def test_secrets_come_by_reference_only(chart, values):
    secret_names = {"SAFEHOLD_SECRET_KEY", "SAFEHOLD_DATABASE_PASSWORD", "PASSWORD"}
    for _, pod in pods(rendered(chart, values)):
        for container in pod["containers"]:
            for entry in container.get("env", []):
                if entry["name"] in secret_names:
                    assert "value" not in entry


@every_set
def test_only_those_who_talk_to_a_cluster_have_a_token(chart, values):
    with_token = {
        name for name, pod in pods(rendered(chart, values)) if pod["automountServiceAccountToken"]
    }
    assert with_token == {"demo-worker", "demo-watcher"}


def test_selectors_match_the_pods_they_are_for(chart):
    items = rendered(chart, VALUE_SETS["everything"])
    labels = {
        item["metadata"]["name"]: item["spec"]["template"]["metadata"]["labels"]
        for item in items
        if item["kind"] == "Deployment"
    }
    for item in items:
        selector = item.get("spec", {}).get("selector")
        if item["kind"] == "Service" or not selector:
            wanted = selector or {}
        else:
            wanted = selector.get("matchLabels", {})
        if wanted:
            assert any(wanted.items() <= found.items() for found in labels.values()), item["kind"]


@pytest.mark.parametrize(
    ("values", "field"),
    [
        ({"publicUrl": "safehold.example"}, "publicUrl"),
        ({"publicUrl": "https://safehold.example/path"}, "publicUrl"),
        ({"web": {"replicas": 0}}, "replicas"),
        ({"image": {"digest": "latest"}}, "digest"),
        ({"wbe": {}}, "wbe"),
        ({"training": {"namespaces": ["a", "a"]}}, "namespaces"),
    ],
)
def test_values_that_cannot_work_are_refused_by_name(chart, values, field):
    with pytest.raises(helm_python.HelmError, match=field):
        chart.validate_schema(values)


def test_live_pages_pass_the_ingress(chart):
    items = rendered(chart, VALUE_SETS["everything"])
    ingress = next(item for item in items if item["kind"] == "Ingress")
    assert (
        ingress["metadata"]["annotations"]["nginx.ingress.kubernetes.io/proxy-read-timeout"]
        == "3600"
    )
