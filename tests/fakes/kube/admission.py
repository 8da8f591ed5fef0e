"""What the API server checks and fills in for the kinds that Safehold writes."""

import copy
import re
import uuid
from typing import Any

from tests.fakes.kube import answers, fields
from tests.fakes.kube.resources import Resource

Json = dict[str, Any]
_SUBDOMAIN = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
_LABEL_VALUE = re.compile(r"(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?")


def admit(resource: Resource, item: Json, *, is_strict: bool) -> Json:
    """Return the object as it is stored, or raise 422 or 400."""
    item = _decoded(resource, copy.deepcopy(item), is_strict=is_strict)
    name = item["metadata"].get("name", "")
    causes: list[tuple[str, str]] = []
    if not _SUBDOMAIN.fullmatch(name) and not item["metadata"].get("generateName"):
        causes.append(("metadata.name", f'Invalid value: "{name}": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters'))  # fmt: skip
    for key, value in (item["metadata"].get("labels") or {}).items():
        if len(value) > 63 or not _LABEL_VALUE.fullmatch(value):
            causes.append((f"metadata.labels[{key}]", f'Invalid value: "{value}"'))
    if resource.plural == "jobs":
        causes += _job_causes(name, item)
    if resource.plural in {"configmaps", "secrets"} and len(str(item.get("data"))) > 1 << 20:
        causes.append(("", "Too long: may not be more than 1048576 bytes"))
    if causes:
        raise answers.invalid(resource, name, causes)
    return _default_job(item) if resource.plural == "jobs" else item


def _decoded(resource: Resource, item: Json, *, is_strict: bool) -> Json:
    kind = resource.kind
    if resource.is_custom:
        return item
    unknown = fields.unknown_fields(kind, item)
    if unknown and is_strict:
        told = ", ".join(f'unknown field "{path}"' for path in unknown)
        message = (
            f'{kind} in version "v1" cannot be handled as a {kind}: strict decoding error: {told}'
        )
        raise answers.status(400, "BadRequest", message)
    for path in reversed(unknown):
        fields.without(item, path)
    if wrong := fields.wrong_type(kind, item):
        message = (
            f'{kind} in version "v1" cannot be handled as a {kind}: json: cannot unmarshal {wrong}'
        )
        raise answers.status(400, "BadRequest", message)
    return item


def _job_causes(name: str, job: Json) -> list[tuple[str, str]]:
    causes = []
    spec = job["spec"]
    if len(name) > 63:
        causes.append(
            ("spec.template.labels", f'Invalid value: "{name}": must be no more than 63 bytes')
        )
    if spec.get("completionMode") == "Indexed":
        longest = f"{name}-{max(spec.get('completions', 1) - 1, 0)}"
        if len(longest) > 63:
            causes.append(("metadata.name", f'Invalid value: "{longest}": must be no more than 63 characters'))  # fmt: skip
    pod = spec["template"]["spec"]
    if pod.get("restartPolicy") not in {"Never", "OnFailure"}:
        causes.append(
            ("spec.template.spec.restartPolicy", 'Unsupported value: "": supported values: "OnFailure", "Never"')
        )  # fmt: skip
    causes += [*_volume_causes(pod), *_toleration_causes(pod)]
    for number, container in enumerate(pod.get("containers", [])):
        causes += _resource_causes(number, container.get("resources") or {})
        causes += _env_causes(f"spec.template.spec.containers[{number}]", container)
    return causes


def _env_causes(path: str, container: Json) -> list[tuple[str, str]]:
    mounts = [mount["mountPath"] for mount in container.get("volumeMounts") or []]
    causes = [
        (f"{path}.volumeMounts[{number}].mountPath", f'Invalid value: "{mount}": must be unique')
        for number, mount in enumerate(mounts)
        if mount in mounts[:number]
    ]
    names = [entry.get("name", "") for entry in container.get("env") or []]
    bad = [name for name in names if not name or "=" in name]
    return causes + [(f"{path}.env[0].name", f'Invalid value: "{name}"') for name in bad]


def _volume_causes(pod: Json) -> list[tuple[str, str]]:
    held = [volume["name"] for volume in pod.get("volumes") or []]
    path = "spec.template.spec"
    causes = [(f"{path}.volumes", f'Duplicate value: "{n}"') for n in held if held.count(n) > 1]
    for number, container in enumerate(pod.get("containers", [])):
        for index, mount in enumerate(container.get("volumeMounts") or []):
            if mount["name"] not in held:
                field = f"{path}.containers[{number}].volumeMounts[{index}].name"
                causes.append((field, f'Not found: "{mount["name"]}"'))
    return causes


def _toleration_causes(pod: Json) -> list[tuple[str, str]]:
    return [
        (f"spec.template.spec.tolerations[{number}].effect",
         f"Invalid value: \"{one.get('effect', '')}\": effect must be 'NoExecute' when `tolerationSeconds` is set")
        for number, one in enumerate(pod.get("tolerations") or [])
        if "tolerationSeconds" in one and one.get("effect") != "NoExecute"
    ]  # fmt: skip


def default_pod(pod: Json) -> Json:
    """Fill in what the admission of a real server puts into a pod."""
    spec = pod["spec"]
    spec.setdefault("enableServiceLinks", True)
    spec.setdefault("serviceAccountName", "default")
    spec |= {"serviceAccount": spec["serviceAccountName"], "priority": 0}
    spec["preemptionPolicy"] = "PreemptLowerPriority"
    tolerations = spec.setdefault("tolerations", [])
    for key in ("not-ready", "unreachable"):
        told = {"key": f"node.kubernetes.io/{key}", "operator": "Exists", "effect": "NoExecute"}
        tolerations.append(told | {"tolerationSeconds": 300})
    for container in spec["containers"]:
        limits = (container.get("resources") or {}).get("limits") or {}
        if limits:
            container["resources"]["requests"] = limits | container["resources"].get("requests", {})
        for entry in container.get("env") or []:
            if ref := (entry.get("valueFrom") or {}).get("fieldRef"):
                ref.setdefault("apiVersion", "v1")
    return pod


def _resource_causes(number: int, resources: Json) -> list[tuple[str, str]]:
    causes = []
    path = f"spec.template.spec.containers[{number}].resources"
    for key, value in (resources.get("limits") or {}).items():
        if "/" not in key:
            continue
        if not str(value).isdigit():
            value = _milli(str(value))
            causes.append(
                (f"{path}.limits[{key}]", f'Invalid value: "{value}": must be an integer')
            )
        request = (resources.get("requests") or {}).get(key, value)
        if str(request) != str(value):
            causes.append(
                (f"{path}.requests", f'Invalid value: "{request}": must be equal to {key} limit of {value}')
            )  # fmt: skip
    return causes


def _default_job(job: Json) -> Json:
    spec = job["spec"]
    uid = job["metadata"].setdefault("uid", str(uuid.uuid4()))
    name = job["metadata"]["name"]
    spec.setdefault("parallelism", 1)
    spec.setdefault("completions", spec["parallelism"])
    spec.setdefault("completionMode", "NonIndexed")
    spec.setdefault("backoffLimit", 6)
    spec.setdefault("suspend", False)
    spec.setdefault("manualSelector", False)
    policy = "Failed" if "podFailurePolicy" in spec else "TerminatingOrFailed"
    spec.setdefault("podReplacementPolicy", policy)
    labels = spec["template"].setdefault("metadata", {}).setdefault("labels", {})
    for prefix in ("batch.kubernetes.io/", ""):
        labels |= {f"{prefix}job-name": name, f"{prefix}controller-uid": uid}
    spec["selector"] = {"matchLabels": {"batch.kubernetes.io/controller-uid": uid}}
    pod = spec["template"]["spec"]
    for key, value in {
        "dnsPolicy": "ClusterFirst",
        "schedulerName": "default-scheduler",
        "securityContext": {},
        "terminationGracePeriodSeconds": 30,
    }.items():
        pod.setdefault(key, value)
    for container in pod["containers"]:
        container.setdefault("imagePullPolicy", "IfNotPresent")
        container.setdefault("terminationMessagePath", "/dev/termination-log")
        container.setdefault("terminationMessagePolicy", "File")
    job.setdefault("status", {})
    return job


def check_job_change(resource: Resource, old: Json, new: Json) -> None:
    """Refuse what is immutable in a Job: 422 with the whole template in the message, as the real one."""
    causes = []
    if old["spec"].get("completions") != new["spec"].get("completions"):
        message = f"Invalid value: {new['spec'].get('completions')}: can only be modified in tandem with spec.parallelism"
        causes.append(("spec.completions", message))
    if _without_scheduling(old) != _without_scheduling(new):
        dump = str(new["spec"]["template"]["spec"])
        causes.append(("spec.template.spec", f"Invalid value: {dump}: field is immutable"))
    elif old["spec"]["template"] != new["spec"]["template"] and not _may_reschedule(old):
        causes.append(("spec.template", "Invalid value: field is immutable"))
    if causes:
        raise answers.invalid(resource, old["metadata"]["name"], causes)


def _without_scheduling(job: Json) -> Json:
    pod = copy.deepcopy(job["spec"]["template"]["spec"])
    for key in ("nodeSelector", "affinity", "tolerations"):
        pod.pop(key, None)
    for container in pod["containers"]:
        container.pop("resources", None)
    return pod


def _may_reschedule(job: Json) -> bool:
    return bool(job["spec"].get("suspend")) and not job["status"].get("startTime")


def _milli(quantity: str) -> str:
    """Return a fraction as the server writes it: `0.5` -> `500m`."""
    return f"{float(quantity) * 1000:.0f}m" if "." in quantity else quantity
