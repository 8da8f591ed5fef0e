import helm_python
import pytest
import yaml

CHART = "helm/safehold"
VALUE_SETS = {
    "defaults": {},
    "trial": {"bundled": {"enabled": True}, "publicUrl": "http://safehold.local"},
    "everything": {
        "image": {"digest": "sha256:" + "0" * 64},
        "imagePullSecrets": [{"name": "regcred"}],
        "ingress": {"enabled": True, "className": "nginx", "tlsSecret": "tls"},
        "training": {"namespaces": ["team-a", "team-b"], "kueue": True, "jobset": True, "trainer": True},
        "web": {"autoscaling": {"enabled": True}},
        "worker": {
            "autoscaling": {"enabled": True},
            "volumes": [{"name": "ckpt", "persistentVolumeClaim": {"claimName": "ckpt"}}],
            "volumeMounts": [{"name": "ckpt", "mountPath": "/checkpoints", "readOnly": True}],
        },
        "verifier": {
            "autoscaling": {"enabled": True}, "concurrency": 4,
            "volumes": [{"name": "ckpt", "persistentVolumeClaim": {"claimName": "ckpt"}}],
        },
        "networkPolicy": {"ingressFrom": [{"namespaceSelector": {"matchLabels": {"a": "b"}}}]},
        "nodeSelector": {"pool": "system"}, "tolerations": [{"operator": "Exists"}],
        "env": [{"name": "HTTPS_PROXY", "value": "http://proxy:3128"}],
    },
    "one-of-each": {"web": {"replicas": 1}, "worker": {"replicas": 1}, "watcher": {"replicas": 1}},
}  # fmt: skip


@pytest.fixture(scope="session")
def chart():
    return helm_python.Chart.load(CHART)


def rendered(chart, values):
    """The objects of a release `demo` in the namespace `ops`."""
    files = chart.render(values=values, name="demo", namespace="ops")
    texts = [text for name, text in files.items() if name.endswith(".yaml")]
    return [item for text in texts for item in yaml.safe_load_all(text) if item]
