"""What a run asks of a Kubernetes cluster: the section `[kubernetes]`, used by the Kubernetes launchers only.

Names and quantities are those of Kubernetes; a secret is named, never written out.
"""

import re
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field

from safehold.config.base import Path, Section, Text, as_tuple, describe

_NAME = r"^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$"
_QUANTITY = re.compile(r"[0-9]+(\.[0-9]+)?(m|k|M|G|T|P|E|Ki|Mi|Gi|Ti|Pi|Ei)?")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_LABEL = re.compile(
    r"([a-z0-9]([-a-z0-9.]*[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?"
)
_LABEL_VALUE = re.compile(r"([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?")
# These carry the attempt's identity and the training's rendezvous; a config that set one would break both.
RESERVED = re.compile(
    r"SAFEHOLD_.*|RANK|LOCAL_RANK|WORLD_SIZE|MASTER_ADDR|MASTER_PORT|JOB_COMPLETION_INDEX"
)


def quantity(value: str) -> str:
    """Refuse what Kubernetes would not read as an amount; empty: not asked for."""
    if value and not _QUANTITY.fullmatch(value):
        raise ValueError(f"{value!r} is not an amount such as 500m, 8 or 64Gi")
    return value


def variable(name: str) -> str:
    """Refuse what is no name of an environment variable, and the names that Safehold sets itself."""
    if not _VARIABLE.fullmatch(name):
        raise ValueError(f"{name!r} is no name of an environment variable")
    if RESERVED.fullmatch(name):
        raise ValueError(f"{name} is set by the launcher")
    return name


def label_name(name: str) -> str:
    """Refuse what is no name of a label."""
    if not _LABEL.fullmatch(name):
        raise ValueError(f"{name!r} is no name of a label")
    return name


def label_value(value: str) -> str:
    """Refuse what is no value of a label: at most 63 letters, digits, `-`, `_` and `.`."""
    if not _LABEL_VALUE.fullmatch(value):
        raise ValueError(f"{value!r} is no value of a label")
    return value


def secret_key(value: str) -> str:
    """Refuse a reference that is not `secret/key`."""
    name, _, key = value.partition("/")
    if not re.fullmatch(_NAME, name) or not re.fullmatch(r"[-._a-zA-Z0-9]+", key):
        raise ValueError(f"{value!r} is not a reference such as my-secret/my-key")
    return value


Name = Annotated[str, Field(pattern=_NAME, max_length=253)]
OptionalName = Annotated[str, Field(pattern=rf"^$|{_NAME}", max_length=253)]
Quantity = Annotated[str, AfterValidator(quantity)]
Variable = Annotated[str, AfterValidator(variable)]
LabelName = Annotated[str, AfterValidator(label_name)]
LabelValue = Annotated[str, AfterValidator(label_value)]
SecretKey = Annotated[str, AfterValidator(secret_key)]


class Toleration(Section):
    """A taint that the pods tolerate."""

    key: Text = describe("Key", "Of the taint; empty with Exists: every taint.", default="")
    operator: Literal["Exists", "Equal"] = describe(
        "Operator", "Equal compares the value.", default="Exists"
    )
    value: Text = describe("Value", "Of the taint.", default="")
    effect: Literal["", "NoSchedule", "PreferNoSchedule", "NoExecute"] = describe(
        "Effect", "Empty: every effect.", default=""
    )
    toleration_seconds: int = describe(
        "Seconds", "How long NoExecute is tolerated; -1: for ever.", unit="s", default=-1, ge=-1
    )


class Spread(Section):
    """How the pods spread over zones, racks or nodes."""

    topology_key: Text = describe("Topology", "Label of the nodes.", min_length=1)
    max_skew: int = describe("Skew", "Largest difference of pods.", default=1, ge=1)
    when_unsatisfiable: Literal["DoNotSchedule", "ScheduleAnyway"] = describe(
        "Otherwise", "Wait, or ignore the rule.", default="DoNotSchedule"
    )


class Volume(Section):
    """Storage in the pods: exactly one of claim, host path, or (neither given) an empty directory."""

    mount_path: Path = describe("Mounted at", "Absolute path in the pod.", pattern="^/.+")
    claim: OptionalName = describe("Claim", "Name of a PersistentVolumeClaim.", default="")
    host_path: Path = describe("Host path", "Directory of the node.", default="")
    size: Quantity = describe("Size", "Limit of an empty directory.", default="")
    sub_path: Path = describe("Sub-path", "Part of the volume.", default="")
    read_only: bool = describe("Read only", "The pods cannot write to it.", default=False)


class Kubernetes(Section):
    """Where and how the pods of a run are made."""

    cluster: Text = describe(
        "Cluster",
        "Name of a registered cluster; empty: chosen at launch.",
        default="",
        max_length=28,
    )
    workload: Literal["job", "jobset", "trainjob"] = describe(
        "Workload",
        "Kind of object: an Indexed Job, a JobSet or a Kubeflow TrainJob.",
        default="job",
    )
    queue: OptionalName = describe(
        "Queue", "LocalQueue of Kueue; empty: started at once.", default=""
    )
    runtime: OptionalName = describe(
        "Training runtime", "ClusterTrainingRuntime of a TrainJob.", default=""
    )
    image: Text = describe(
        "Image",
        "Container image, best by digest; empty: the trainer image of the cluster.",
        default="",
        max_length=500,
    )
    pull_secrets: Annotated[tuple[Name, ...], BeforeValidator(as_tuple)] = describe(
        "Pull secrets", "Names of secrets for the image registry.", default=()
    )
    device_resource: Text = describe(
        "Device resource",
        "Name under which nodes offer the devices.",
        default="nvidia.com/gpu",
        min_length=1,
    )
    cpu: Quantity = describe("CPU", "Of each pod.", unit="cores", default="")
    memory: Quantity = describe("Memory", "Of each pod; request and limit.", default="")
    shared_memory: Quantity = describe(
        "Shared memory", "Size of /dev/shm; data workers and NCCL need it.", default="16Gi"
    )
    volumes: Annotated[tuple[Volume, ...], BeforeValidator(as_tuple)] = describe(
        "Volumes", "For data and checkpoints.", default=(), form="nested"
    )
    node_selector: dict[LabelName, LabelValue] = describe(
        "Node selector", "Labels that the nodes must have.", default_factory=dict
    )
    affinity: dict[str, Any] = describe(
        "Affinity", "As in a pod, in Kubernetes' own words.", default_factory=dict
    )
    tolerations: Annotated[tuple[Toleration, ...], BeforeValidator(as_tuple)] = describe(
        "Tolerations", "Taints that the pods tolerate.", default=(), form="nested"
    )
    topology_spread: Annotated[tuple[Spread, ...], BeforeValidator(as_tuple)] = describe(
        "Topology spread", "How the pods spread.", default=(), form="nested"
    )
    priority_class: OptionalName = describe("Priority class", "Of the pods.", default="")
    runtime_class: OptionalName = describe("Runtime class", "Of the pods.", default="")
    service_account: OptionalName = describe(
        "Service account", "Of the pods; its token is not mounted.", default=""
    )
    annotations: dict[str, Text] = describe("Annotations", "On the pods.", default_factory=dict)
    env: dict[Variable, Text] = describe(
        "Environment", "For NCCL, torch and the program.", default_factory=dict
    )
    secret_env: dict[Variable, SecretKey] = describe(
        "Secret environment", "Variables from secrets, as `secret/key`.", default_factory=dict
    )
    user_id: int = describe(
        "User", "Numeric user of the process; the image's own root is refused.", default=1000, ge=1
    )
    pending_seconds: int = describe(
        "Longest start",
        "After which a pod that cannot start is given up. Waiting for devices does not count.",
        unit="s",
        default=900,
        ge=30,
    )
    deadline_seconds: int = describe(
        "Time limit", "Of the attempt; 0: none.", unit="s", default=0, ge=0
    )
