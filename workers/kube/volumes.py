"""The volumes of the pods and where they are mounted."""

from typing import Any

from safehold.config.kubernetes import Kubernetes, Volume
from workers.kube.environment import SCRATCH

Json = dict[str, Any]
# Before the numbers of those that a config asks for; the others are the pod's own scratch.
PREFIX = "volume-"


def build(options: Kubernetes) -> tuple[list[Json], list[Json]]:
    """Return mounts and volumes."""
    shared: Json = {"medium": "Memory"}
    if options.shared_memory:
        shared["sizeLimit"] = options.shared_memory
    mounts: list[Json] = [
        {"name": "scratch", "mountPath": SCRATCH},
        {"name": "tmp", "mountPath": "/tmp"},
        {"name": "shared-memory", "mountPath": "/dev/shm"},
    ]
    volumes: list[Json] = [
        {"name": "scratch", "emptyDir": {}},
        {"name": "tmp", "emptyDir": {}},
        {"name": "shared-memory", "emptyDir": shared},
    ]
    for number, volume in enumerate(options.volumes):
        name = f"{PREFIX}{number}"
        mount = {"name": name, "mountPath": volume.mount_path, "readOnly": volume.read_only}
        mounts.append(mount | ({"subPath": volume.sub_path} if volume.sub_path else {}))
        volumes.append({"name": name} | _source(volume))
    return mounts, volumes


def _source(volume: Volume) -> Json:
    if volume.claim:
        return {"persistentVolumeClaim": {"claimName": volume.claim, "readOnly": volume.read_only}}
    if volume.host_path:
        return {"hostPath": {"path": volume.host_path, "type": "Directory"}}
    return {"emptyDir": {"sizeLimit": volume.size} if volume.size else {}}
