"""Whether the checkpoints of pods outlive the pods."""

from collections.abc import Iterator
from pathlib import PurePosixPath

from safehold.findings import Finding, passed, unknown, warn
from safehold.preflight.base import Facts, check


@check("CONF-3.checkpoint_volume", group="config")
def checkpoint_volume(facts: Facts) -> Iterator[Finding]:
    """On Kubernetes the checkpoint root lies in a volume that outlives the pod."""
    if facts.config is None:
        yield unknown("The config cannot be read.")
        return
    if facts.config.kubernetes is None:
        yield passed("The run starts no pods on a cluster.")
        return
    root = PurePosixPath(facts.config.checkpoint.root)
    volumes = [
        one for one in facts.config.kubernetes.volumes if root.is_relative_to(one.mount_path)
    ]
    volume = max(volumes, key=lambda one: len(one.mount_path), default=None)
    if volume is None or not (volume.claim or volume.host_path):
        place = f"the empty directory {volume.mount_path}" if volume else "no volume of the config"
        yield warn(
            f"checkpoint.root {root} lies in {place}: what is saved is lost with the pod.",
            evidence={"field": "checkpoint.root", "mounted": [one.mount_path for one in volumes]},
            advice="Mount a claim there, or save where one is mounted.",
        )
    elif volume.read_only:
        yield warn(
            f"checkpoint.root {root} lies in {volume.mount_path}, which is mounted read-only.",
            evidence={"field": "checkpoint.root"},
            advice="Mount it for writing.",
        )
    else:
        yield passed(f"checkpoint.root {root} lies in {volume.claim or volume.host_path}.")
