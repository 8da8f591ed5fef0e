"""The Job controller, the scheduler, the kubelet and the garbage collector, one pass at a time."""

import copy
import uuid
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from functools import partial
from typing import Any

from tests.fakes.kube import admission
from tests.fakes.kube.answers import Refused, not_found
from tests.fakes.kube.nodes import Ended, Runtime
from tests.fakes.kube.resources import BUILT_IN, Resource
from tests.fakes.kube.store import Store

Json = dict[str, Any]
_BY_PLURAL = {resource.plural: resource for resource in BUILT_IN}
PODS, JOBS, EVENTS = _BY_PLURAL["pods"], _BY_PLURAL["jobs"], _BY_PLURAL["events"]
GPU = "nvidia.com/gpu"
TRACKING = "batch.kubernetes.io/job-tracking"
INDEX = "batch.kubernetes.io/job-completion-index"


def _all(_: Json) -> bool:
    return True


def text_of(now: float) -> str:
    return datetime.fromtimestamp(now, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


class Controllers:
    """Everything in a cluster that acts by itself, over one store and one clock."""

    def __init__(self, store: Store, runtime: Runtime, clock: Callable[[], float]) -> None:
        self.store = store
        self.runtime = runtime
        self.clock = clock
        self.cut_off: set[str] = set()
        self._cut_since: dict[str, float] = {}
        self._counted: dict[str, set[str]] = {}
        self._made: dict[str, set[str]] = {}
        self._deleting: dict[str, float] = {}

    def sync(self) -> None:
        """Let every controller do what is due."""
        jobs = self.store.list("jobs", "", _all)
        _each(jobs, self._job)
        for job in jobs:
            _each(self._pods_of(job), partial(self._release, job))
        uids = {job["metadata"]["uid"] for job in jobs}
        left = self.store.list("pods", "", lambda pod: not _owners(pod) & uids)
        _each(left, partial(self._release, None))
        _each(self.store.list("pods", "", _all), self._schedule)
        for node in sorted(self.cut_off):
            self._lose(node)
        pods = self.store.list("pods", "", lambda p: p["spec"].get("nodeName") not in self.cut_off)
        _each(pods, self._kubelet)
        self.runtime.end_others(
            {pod["metadata"]["uid"] for pod in self.store.list("pods", "", _all)}
        )

    # The Job controller.

    def _job(self, job: Json) -> None:
        pods = self._pods_of(job)
        if "deletionTimestamp" in job["metadata"]:
            self._finish_foreground(job, pods)
            return
        if _has(job, "Complete") or _has(job, "Failed"):
            self._expire(job)
            return
        if job["spec"]["suspend"]:
            self._suspend(job, pods)
            return
        status = self._count(job, pods)
        target = self._target(job, status)
        live = [pod for pod in pods if pod["status"]["phase"] in {"Pending", "Running"}]
        if target is None:
            self._fill(job, pods)
        else:
            for pod in live:
                self._delete_pod(pod)
            self._condition(status, target[0], target[1], target[2])
            if not live:
                end = "Complete" if target[0] == "SuccessCriteriaMet" else "Failed"
                self._condition(status, end, target[1], target[2])
                if end == "Complete":
                    status["completionTime"] = text_of(self.clock())
        self._set_status(JOBS, job, status)

    def _pods_of(self, job: Json) -> list[Json]:
        uid = job["metadata"]["uid"]

        def is_mine(pod: Json) -> bool:
            return any(r["uid"] == uid for r in pod["metadata"].get("ownerReferences") or [])

        return self.store.list("pods", job["metadata"]["namespace"], is_mine)

    def _count(self, job: Json, pods: list[Json]) -> Json:
        uid, status = job["metadata"]["uid"], copy.deepcopy(job["status"])
        status.setdefault("startTime", text_of(self.clock()))
        if _has(job, "Suspended"):
            self._condition(status, "Suspended", "JobResumed", "Job resumed", value="False")
        counted = self._counted.setdefault(uid, set())
        done = {pod["metadata"]["uid"]: pod for pod in pods}
        gone = self._made.get(uid, set()) - set(done)
        failed = {u for u, pod in done.items() if pod["status"]["phase"] == "Failed"}
        new_failures = (failed | gone) - counted
        counted |= new_failures
        if new_failures:
            status["failed"] = status.get("failed", 0) + len(new_failures)
        succeeded = [pod for pod in pods if pod["status"]["phase"] == "Succeeded"]
        counted |= {pod["metadata"]["uid"] for pod in succeeded}
        active = [p for p in pods if p["status"]["phase"] in {"Pending", "Running"}]
        terminating = [p for p in active if "deletionTimestamp" in p["metadata"]]
        numbers = {"succeeded": len(succeeded), "active": len(active) - len(terminating)}
        numbers |= {"terminating": len(terminating), "ready": sum(map(_is_ready, active))}
        status |= {key: value for key, value in numbers.items() if value or key in status}
        if job["spec"]["completionMode"] == "Indexed" and succeeded:
            status["completedIndexes"] = _ranges(sorted(_index(pod) for pod in succeeded))
        return status

    def _target(self, job: Json, status: Json) -> tuple[str, str, str] | None:
        spec = job["spec"]
        for condition in status.get("conditions") or []:
            if condition["type"] in {"SuccessCriteriaMet", "FailureTarget"}:
                return condition["type"], condition["reason"], condition["message"]
        if status.get("succeeded", 0) >= spec["completions"]:
            return (
                "SuccessCriteriaMet",
                "CompletionsReached",
                "Reached expected number of succeeded pods",
            )
        if status.get("failed", 0) > spec["backoffLimit"]:
            message = "Job has reached the specified backoff limit"
            return "FailureTarget", "BackoffLimitExceeded", message
        deadline = spec.get("activeDeadlineSeconds")
        started = datetime.fromisoformat(status["startTime"])
        if deadline and self.clock() >= started.timestamp() + deadline:
            message = "Job was active longer than specified deadline"
            return "FailureTarget", "DeadlineExceeded", message
        return None

    def _fill(self, job: Json, pods: list[Json]) -> None:
        taken = {_index(pod) for pod in pods if pod["status"]["phase"] != "Failed"}
        for index in range(job["spec"]["completions"]):
            if index in taken or len(taken) >= job["spec"]["parallelism"]:
                continue
            taken.add(index)
            self._make_pod(job, index)

    def _make_pod(self, job: Json, index: int) -> None:
        pod = copy.deepcopy(job["spec"]["template"])
        name = f"{job['metadata']['name']}-{index}-{uuid.uuid4().hex[:5]}"
        metadata = pod.setdefault("metadata", {})
        metadata["name"] = name
        metadata["finalizers"] = [TRACKING]
        metadata.setdefault("annotations", {})[INDEX] = str(index)
        metadata.setdefault("labels", {})[INDEX] = str(index)
        metadata["ownerReferences"] = [
            {"apiVersion": "batch/v1", "kind": "Job", "name": job["metadata"]["name"],
             "uid": job["metadata"]["uid"], "controller": True, "blockOwnerDeletion": True}
        ]  # fmt: skip
        pod["spec"].setdefault("hostname", f"{job['metadata']['name']}-{index}")
        source = {"fieldRef": {"fieldPath": f"metadata.labels['{INDEX}']"}}
        for container in pod["spec"]["containers"]:
            container.setdefault("env", []).append(
                {"name": "JOB_COMPLETION_INDEX", "valueFrom": source}
            )
        pod = admission.default_pod(pod) | {"status": {"phase": "Pending"}}
        if refusal := self._over_quota(job, name, pod):
            self._event(job, "Job", "FailedCreate", refusal, "job-controller", "Warning")
            return
        made = self.store.create(PODS, job["metadata"]["namespace"], pod, dry_run=False)
        self._made.setdefault(job["metadata"]["uid"], set()).add(made["metadata"]["uid"])
        self._event(job, "Job", "SuccessfulCreate", f"Created pod: {name}", "job-controller")

    def _over_quota(self, job: Json, name: str, pod: Json) -> str:
        space = job["metadata"]["namespace"]
        for quota in self.store.list("resourcequotas", space, _all):
            limit = quota["spec"]["hard"].get(f"requests.{GPU}")
            if limit is None:
                continue
            used = sum(map(gpus_of, filter(_is_unfinished, self.store.list("pods", space, _all))))
            if used + gpus_of(pod) > int(limit):
                return (
                    f'Error creating: pods "{name}" is forbidden: exceeded quota: {quota["metadata"]["name"]}, '
                    f"requested: requests.{GPU}={gpus_of(pod)}, used: requests.{GPU}={used}, "
                    f"limited: requests.{GPU}={limit}"
                )
        return ""

    def _suspend(self, job: Json, pods: list[Json]) -> None:
        for pod in pods:
            if _is_unfinished(pod):
                self._delete_pod(pod)
        status = copy.deepcopy(job["status"])
        for key in ("startTime", "active", "ready"):
            status.pop(key, None)
        self._made.pop(job["metadata"]["uid"], None)
        if not _has(job, "Suspended"):
            self._condition(status, "Suspended", "JobSuspended", "Job suspended")
        self._set_status(JOBS, job, status)

    def _finish_foreground(self, job: Json, pods: list[Json]) -> None:
        for pod in pods:
            if "deletionTimestamp" not in pod["metadata"]:
                self._delete_pod(pod)
        finalizers = job["metadata"].get("finalizers") or []
        if not pods and finalizers == ["foregroundDeletion"]:
            self.store.remove(JOBS, job["metadata"]["namespace"], job["metadata"]["name"])

    def _expire(self, job: Json) -> None:
        seconds = job["spec"].get("ttlSecondsAfterFinished")
        ended = [c for c in job["status"]["conditions"] if c["type"] in {"Complete", "Failed"}]
        at = datetime.fromisoformat(ended[0]["lastTransitionTime"]).timestamp()
        if seconds is not None and self.clock() >= at + seconds:
            self.store.remove(JOBS, job["metadata"]["namespace"], job["metadata"]["name"])

    def collect(self) -> None:
        """Remove what belongs to an owner that is gone, as the garbage collector does."""
        with self.store.changed:
            uids = {item["metadata"]["uid"] for item in self.store.objects.values()}

        def is_left(item: Json) -> bool:
            owners = _owners(item)
            return bool(owners) and not owners & uids

        _each(self.store.list("pods", "", is_left), self._collect_pod)
        for plural in ("services", "secrets", "configmaps"):
            for item in self.store.list(plural, "", is_left):
                metadata = item["metadata"]
                self.store.remove(_BY_PLURAL[plural], metadata["namespace"], metadata["name"])

    def _collect_pod(self, pod: Json) -> None:
        if _is_unfinished(pod) and pod["spec"].get("nodeName"):
            self._delete_pod(pod)
        else:
            self.remove_pod(pod)

    # The scheduler.

    def _schedule(self, pod: Json) -> None:
        if pod["spec"].get("nodeName") or "deletionTimestamp" in pod["metadata"]:
            return
        nodes = self.store.list("nodes", "", _all)
        fitting = [node for node in nodes if self._fits(pod, node)]
        if fitting:
            name = fitting[0]["metadata"]["name"]
            self._update(PODS, pod, lambda held: held["spec"].update(nodeName=name))
            self._pod_condition(pod, "PodScheduled", "True", "", "")
            return
        message = f"0/{len(nodes)} nodes are available: {len(nodes)} Insufficient {GPU}."
        if self._pod_condition(pod, "PodScheduled", "False", "Unschedulable", message):
            self._event(pod, "Pod", "FailedScheduling", message, "default-scheduler", "Warning")

    def _fits(self, pod: Json, node: Json) -> bool:
        name, labels = node["metadata"]["name"], node["metadata"].get("labels") or {}
        wanted = pod["spec"].get("nodeSelector") or {}
        if name in self.cut_off or node["spec"].get("unschedulable"):
            return False
        if any(labels.get(key) != value for key, value in wanted.items()):
            return False

        def is_there(other: Json) -> bool:
            return other["spec"].get("nodeName") == name and _is_unfinished(other)

        taken = sum(map(gpus_of, self.store.list("pods", "", is_there)))
        return taken + gpus_of(pod) <= int(node["status"]["allocatable"].get(GPU, 0))

    # The kubelet.

    def _kubelet(self, pod: Json) -> None:
        phase, now = pod["status"]["phase"], self.clock()
        if not pod["spec"].get("nodeName"):
            if "deletionTimestamp" in pod["metadata"]:
                self.remove_pod(pod)
            return
        if "deletionTimestamp" in pod["metadata"]:
            self._end_deleted(pod, now)
        elif phase == "Pending":
            self._start(pod, now)
        elif phase == "Running" and (ended := self.runtime.poll(pod, now)):
            self._ended(pod, ended)

    def _start(self, pod: Json, now: float) -> None:
        if waiting := self.runtime.waiting(pod):
            reason, message = waiting
            state = {"waiting": {"reason": reason, "message": message}}
            if self._container(pod, "Pending", state, is_ready=False):
                self._event(pod, "Pod", "Failed", f"Error: {reason}", "kubelet", "Warning")
            return
        pod["status"]["podIP"] = "127.0.0.1"
        self.runtime.start(pod, now)
        started = {"running": {"startedAt": text_of(now)}}
        self._container(pod, "Running", started, is_ready=True)
        self._event(pod, "Pod", "Started", "Started container main", "kubelet")

    def _ended(self, pod: Json, ended: Ended) -> None:
        reason = ended.reason or ("Completed" if ended.exit_code == 0 else "Error")
        record = {"exitCode": ended.exit_code, "reason": reason}
        record |= {
            "startedAt": pod["status"].get("startTime", ""),
            "finishedAt": text_of(self.clock()),
        }
        if ended.message:
            record["message"] = ended.message
        phase = "Succeeded" if ended.exit_code == 0 else "Failed"
        self._container(pod, phase, {"terminated": record}, is_ready=False)

    def _end_deleted(self, pod: Json, now: float) -> None:
        metadata = pod["metadata"]
        uid = metadata["uid"]
        began = self._deleting.setdefault(uid, now)
        if pod["status"]["phase"] == "Running":
            grace = metadata.get("deletionGracePeriodSeconds", 30)
            self.runtime.terminate(pod, now, is_forced=now - began >= grace)
            ended = self.runtime.poll(pod, now)
            if ended is None:
                return
            self._ended(pod, ended)
        self.remove_pod(pod)

    def remove_pod(self, pod: Json) -> None:
        """Take a pod away, as far as its finalizers let: the Job controller wants to have counted it."""
        metadata = pod["metadata"]
        if metadata.get("finalizers"):
            now = text_of(self.clock())

            def mark(held: Json) -> None:
                held["metadata"].setdefault("deletionTimestamp", now)
                held["metadata"]["deletionGracePeriodSeconds"] = 0

            self._update(PODS, pod, mark)
        else:
            self.store.remove(PODS, metadata["namespace"], metadata["name"])

    def _release(self, job: Json | None, pod: Json) -> None:
        """Take our finalizer off a pod that was counted, or whose Job is gone."""
        metadata = pod["metadata"]
        is_due = job is None or "deletionTimestamp" in metadata or not _is_unfinished(pod)
        if not is_due or not metadata.get("finalizers"):
            return
        if metadata.get("deletionGracePeriodSeconds") == 0:
            self.store.remove(PODS, metadata["namespace"], metadata["name"])
        else:
            self._update(PODS, pod, lambda held: held["metadata"].pop("finalizers", None))

    def _container(self, pod: Json, phase: str, state: Json, *, is_ready: bool) -> bool:
        spec = pod["spec"]["containers"][0]
        entry = {"name": spec["name"], "image": spec["image"], "ready": is_ready}
        entry |= {
            "restartCount": 0,
            "state": state,
            "imageID": f"{spec['image']}@sha256:{'0' * 64}",
        }
        changed = pod["status"].get("containerStatuses", [{}])[0].get("state") != state

        def change(held: Json) -> None:
            held["status"] |= {"phase": phase, "containerStatuses": [entry], "podIP": "127.0.0.1"}
            held["status"].setdefault("startTime", text_of(self.clock()))

        self._update(PODS, pod, change)
        reason = "" if is_ready else "ContainersNotReady"
        for type_ in ("ContainersReady", "Ready"):
            self._pod_condition(pod, type_, str(is_ready), reason, "")
        return changed

    def _lose(self, node: str) -> None:
        """A node that is cut off: Unknown, its pods not ready, deleted after a while, never gone."""
        since = self._cut_since.setdefault(node, self.clock())
        if self.clock() - since < 40:
            return
        nodes = _BY_PLURAL["nodes"]
        held = self.store.get(nodes, "", node)
        condition = {"type": "Ready", "status": "Unknown", "reason": "NodeStatusUnknown"}
        condition["lastTransitionTime"] = text_of(since + 40)
        self._update(nodes, held, lambda item: item["status"].update(conditions=[condition]))
        for pod in self.store.list("pods", "", lambda p: p["spec"].get("nodeName") == node):
            if not _is_unfinished(pod):
                continue
            # The node controller changes the status and nothing else of the condition.
            self._pod_condition(pod, "Ready", "False", "", "")
            if self.clock() - since > 45:
                self._delete_pod(pod)

    # Shared by them.

    def _delete_pod(self, pod: Json) -> None:
        grace = pod["spec"].get("terminationGracePeriodSeconds", 30)

        def mark(held: Json) -> None:
            held["metadata"].setdefault("deletionTimestamp", text_of(self.clock() + grace))
            held["metadata"].setdefault("deletionGracePeriodSeconds", grace)

        self._update(PODS, pod, mark)

    def _update(self, resource: Resource, item: Json, change: Callable[[Json], None]) -> None:
        metadata = item["metadata"]

        def changed(held: Json) -> Json:
            if held["metadata"]["uid"] != metadata["uid"]:
                raise not_found(resource, metadata["name"])
            change(held)
            return held

        self.store.update(resource, metadata.get("namespace", ""), metadata["name"], changed)

    def _set_status(self, resource: Resource, item: Json, status: Json) -> None:
        self._update(resource, item, lambda held: held.update(status=status))

    def _condition(
        self, status: Json, type_: str, reason: str, message: str, *, value: str = "True"
    ) -> None:
        conditions = [c for c in status.get("conditions") or [] if c["type"] != type_]
        held = next((c for c in status.get("conditions") or [] if c["type"] == type_), None)
        if held and held["status"] == value:
            return
        condition = {"type": type_, "status": value, "reason": reason, "message": message}
        condition["lastTransitionTime"] = text_of(self.clock())
        status["conditions"] = [*conditions, condition]

    def _pod_condition(self, pod: Json, type_: str, value: str, reason: str, message: str) -> bool:
        condition = {"type": type_, "status": value}
        condition |= {key: text for key, text in (("reason", reason), ("message", message)) if text}
        held = [c for c in pod["status"].get("conditions") or [] if c["type"] == type_]
        if [{key: c[key] for key in c if key != "lastTransitionTime"} for c in held] == [condition]:
            return False
        condition["lastTransitionTime"] = text_of(self.clock())

        def change(item: Json) -> None:
            others = [c for c in item["status"].get("conditions") or [] if c["type"] != type_]
            item["status"]["conditions"] = [*others, condition]

        self._update(PODS, pod, change)
        return True

    def _event(
        self, item: Json, kind: str, reason: str, message: str, source: str, type_: str = "Normal"
    ) -> None:
        metadata = item["metadata"]
        involved = {"kind": kind, "name": metadata["name"], "uid": metadata["uid"]}
        involved["namespace"] = metadata["namespace"]
        event = {"metadata": {"name": f"{metadata['name']}.{uuid.uuid4().hex[:16]}"}, "type": type_}
        event |= {"involvedObject": involved, "reason": reason, "message": message}
        event |= {"reportingComponent": source, "source": {"component": source}}
        now = text_of(self.clock())
        if source == "default-scheduler":
            event |= {"eventTime": now.replace("Z", ".000000Z"), "firstTimestamp": None}
            event["lastTimestamp"] = None
        else:
            event |= {"eventTime": None, "count": 1, "firstTimestamp": now, "lastTimestamp": now}
        self.store.create(EVENTS, metadata["namespace"], event, dry_run=False)


def _each(items: Iterable[Json], act: Callable[[Json], None]) -> None:
    """Act on every item; one that a request took away meanwhile is left to the next pass."""
    for item in items:
        try:
            act(item)
        except Refused as refused:
            if refused.code != 404:
                raise


def gpus_of(pod: Json) -> int:
    """Devices that the pod asks for."""
    return sum(
        int(((c.get("resources") or {}).get("limits") or {}).get(GPU, 0))
        for c in pod["spec"]["containers"]
    )


def _owners(pod: Json) -> set[str]:
    return {ref["uid"] for ref in pod["metadata"].get("ownerReferences") or []}


def _has(job: Json, type_: str) -> bool:
    conditions = job["status"].get("conditions") or []
    return any(c["type"] == type_ and c["status"] == "True" for c in conditions)


def _index(pod: Json) -> int:
    return int(pod["metadata"]["annotations"][INDEX])


def _is_ready(pod: Json) -> bool:
    conditions = pod["status"].get("conditions") or []
    return any(c["type"] == "Ready" and c["status"] == "True" for c in conditions)


def _is_unfinished(pod: Json) -> bool:
    return pod["status"]["phase"] in {"Pending", "Running"}


def _ranges(indexes: list[int]) -> str:
    """`[0, 1, 2, 5]` -> `0-2,5`; two in a row stay `0,1`."""
    runs: list[list[int]] = []
    for index in indexes:
        if runs and index == runs[-1][-1] + 1:
            runs[-1].append(index)
        else:
            runs.append([index])
    parts = [[str(i) for i in run] if len(run) < 3 else [f"{run[0]}-{run[-1]}"] for run in runs]
    return ",".join(sum(parts, []))
