"""The environment of the trainer's container."""

from typing import Any

from safehold.config.kubernetes import Kubernetes
from workers.kube.objects import CONFIG_KEY, TOKEN_KEY
from workers.launchers.base import LaunchSpec

Json = dict[str, Any]
# Not /safehold: in a container that works in /, a folder of that name would hide an editable install of the library.
SCRATCH = "/var/safehold"
TERMINATION_LOG = "/dev/termination-log"


def build(spec: LaunchSpec, options: Kubernetes) -> list[Json]:
    """Return the variables, each once: a config cannot take an attempt's identity.

    What others are made of comes first. A name given twice is a warning of some servers and a refusal of others.
    """
    ours = {
        "SAFEHOLD_URL": spec.ingest_url,
        "SAFEHOLD_RUN_ID": str(spec.run_id),
        "SAFEHOLD_ATTEMPT": str(spec.attempt),
        "SAFEHOLD_CHECKPOINT_ROOT": str(spec.checkpoint_root),
        "SAFEHOLD_GRACE_SECONDS": str(spec.grace_seconds),
        "SAFEHOLD_DIR": f"{SCRATCH}/$(SAFEHOLD_POD)",
        "SAFEHOLD_TERMINATION_LOG": TERMINATION_LOG,
    }
    if spec.resume_from:
        ours["SAFEHOLD_RESUME_FROM"] = spec.resume_from
    if spec.is_fork:
        ours["SAFEHOLD_FORK"] = "1"
    if spec.weights_from:
        ours["SAFEHOLD_WEIGHTS_FROM"] = spec.weights_from
    made = [
        _field("SAFEHOLD_POD", "metadata.name"),
        _field("SAFEHOLD_NODE", "spec.nodeName"),
        _field("SAFEHOLD_POD_IP", "status.podIP"),
        *(
            {"name": key, "value": value}
            for key, value in sorted({**options.env, **spec.env}.items())
        ),
        *(_from_secret(key, *ref.split("/", 1)) for key, ref in sorted(options.secret_env.items())),
        *({"name": key, "value": value} for key, value in ours.items()),
        _from_secret("SAFEHOLD_TOKEN", spec.name, TOKEN_KEY),
        _from_secret("SAFEHOLD_CONFIG_JSON", spec.name, CONFIG_KEY),
    ]
    last = {entry["name"]: entry for entry in made}
    return [entry for entry in made if last[entry["name"]] is entry]


def _field(name: str, path: str) -> Json:
    return {"name": name, "valueFrom": {"fieldRef": {"fieldPath": path}}}


def _from_secret(name: str, secret_name: str, key: str) -> Json:
    return {"name": name, "valueFrom": {"secretKeyRef": {"name": secret_name, "key": key}}}
