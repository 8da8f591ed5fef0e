"""Names and labels: valid in Kubernetes whatever people call their runs, and ours to find again."""

import hashlib
import re
from collections.abc import Mapping
from typing import Any

# A Job's name becomes a label value and, with an index, a host name: 63 characters together.
LONGEST = 63
_WIDEST_INDEX = len("-99999")

MANAGED_BY = "app.kubernetes.io/managed-by"
DOMAIN = "safehold.io"
OWNER = f"{DOMAIN}/owner"
RUN = f"{DOMAIN}/run"
ATTEMPT = f"{DOMAIN}/attempt"
WORKLOAD = f"{DOMAIN}/workload"
# On what closes a name: a tombstone that never runs, or a workload that was there already.
FENCE = f"{DOMAIN}/fence"
TOMBSTONE = "true"
CLOSED = "closed"
# An annotation of the workload: how long its pods may wait for what does not come by itself.
PENDING_SECONDS = f"{DOMAIN}/pending-seconds"
QUEUE = "kueue.x-k8s.io/queue-name"


def label_of(text: str) -> str:
    """Return a valid label value for any text, the same each time; different texts stay different.

    A text that is a label value already is kept. Others keep what they can, and a digest tells them apart.
    """
    if 0 < len(text) <= LONGEST and re.fullmatch(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?", text):
        return text
    kept = re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")[:40].strip("-")
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:10]
    return f"{kept}-{digest}" if kept else f"x-{digest}"


def workload_name(text: str) -> str:
    """Return a valid name for a workload with indexed pods.

    It begins with a letter (a service of the same name is a DNS-1035 label), and leaves room for `-INDEX`.
    """
    name = label_of(text)
    if not name[0].isalpha():
        name = f"s-{name}"
    if len(name) + _WIDEST_INDEX <= LONGEST:
        return name
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:10]
    return f"{name[: LONGEST - _WIDEST_INDEX - 11].strip('-')}-{digest}"


def labels(*, owner: str, run_id: int, attempt: int, name: str) -> dict[str, str]:
    """Return the labels of everything made for one attempt."""
    return {
        MANAGED_BY: "safehold",
        OWNER: owner,
        RUN: str(run_id),
        ATTEMPT: str(attempt),
        WORKLOAD: name,
    }


def selector(*, owner: str, name: str = "") -> str:
    """Return the selector of all that this control plane made, or of one workload."""
    parts = [f"{MANAGED_BY}=safehold", f"{OWNER}={owner}"]
    return ",".join([*parts, f"{WORKLOAD}={name}"] if name else parts)


def is_tombstone(item: Mapping[str, Any]) -> bool:
    """Whether an object only occupies its name."""
    return ((item.get("metadata") or {}).get("labels") or {}).get(FENCE) == TOMBSTONE


def is_ours(item: Mapping[str, object], *, owner: str, name: str) -> bool:
    """Whether an object found under a name was made by this control plane for this very workload."""
    metadata = item.get("metadata")
    held = metadata.get("labels") if isinstance(metadata, dict) else None
    return isinstance(held, dict) and held.get(OWNER) == owner and held.get(WORKLOAD) == name
