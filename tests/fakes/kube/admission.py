"""What the API server checks and fills in for the kinds that Safehold writes."""

import copy
import re
import uuid
from typing import Any

from tests.fakes.kube import answers
from tests.fakes.kube.resources import Resource

Json = dict[str, Any]
_SUBDOMAIN = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
_LABEL_VALUE = re.compile(r"(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?")
_JOB_FIELDS = {
    "activeDeadlineSeconds", "backoffLimit", "backoffLimitPerIndex", "completionMode", "completions",
    "managedBy", "manualSelector", "maxFailedIndexes", "parallelism", "podFailurePolicy",
    "podReplacementPolicy", "selector", "successPolicy", "suspend", "template", "ttlSecondsAfterFinished",
}  # fmt: skip


def admit(resource: Resource, item: Json, *, is_strict: bool) -> Json:
    """Return the object as it is stored, or raise 422 or 400."""
    item = copy.deepcopy(item)
    name = item["metadata"].get("name", "")
    causes: list[tuple[str, str]] = []
    if not _SUBDOMAIN.fullmatch(name) and not item["metadata"].get("generateName"):
        causes.append(("metadata.name", f'Invalid value: "{name}": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters'))  # fmt: skip
    for key, value in (item["metadata"].get("labels") or {}).items():
        if len(value) > 63 or not _LABEL_VALUE.fullmatch(value):
            causes.append((f"metadata.labels[{key}]", f'Invalid value: "{value}"'))
    if resource.plural == "jobs":
        causes += _job_causes(name, item)
        unknown = sorted(set(item["spec"]) - _JOB_FIELDS)
        if unknown and is_strict:
            message = f'Job in version "v1" cannot be handled as a Job: strict decoding error: unknown field "spec.{unknown[0]}"'
            raise answers.status(400, "BadRequest", message)
        for field in unknown:
            del item["spec"][field]
    if resource.plural in {"configmaps", "secrets"} and len(str(item.get("data"))) > 1 << 20:
        causes.append(("", "Too long: may not be more than 1048576 bytes"))
    if causes:
        raise answers.invalid(resource, name, causes)
    return _default_job(item) if resource.plural == "jobs" else item


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
    for number, container in enumerate(pod.get("containers", [])):
        causes += _resource_causes(number, container.get("resources") or {})
    return causes


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
