"""Following changes of our pods and Jobs: a watch is a hint that makes a look happen sooner, a list is the truth.

However a watch ends, goes stale or repeats itself, the next thing is a list, a comparison with what was held, and a
watch from that list's version, with growing pauses while the cluster does not answer.
"""

import logging
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from workers.kube import names
from workers.kube.api import Kube
from workers.kube.errors import KubeError
from workers.kube.kinds import Kind

logger = logging.getLogger(__name__)
Json = dict[str, Any]
# Short enough that a server which stopped sending is noticed, long enough to cost nothing.
WATCH_SECONDS = 60
FIRST_PAUSE_SECONDS = 0.5
LONGEST_PAUSE_SECONDS = 30.0


@dataclass
class Held:
    """What the watcher believes to be there: uid -> (workload, resource version)."""

    objects: dict[str, tuple[str, str]] = field(default_factory=dict)

    def replace(self, items: list[Json]) -> set[str]:
        """Take a list for the truth; return the workloads that differ from what was held.

        What vanished while nobody watched shows only as missing from the list.
        """
        fresh = {item["metadata"]["uid"]: _mark(item) for item in items}
        changed = {
            workload
            for uid, (workload, version) in {**self.objects, **fresh}.items()
            if self.objects.get(uid) != fresh.get(uid) or fresh.get(uid) != (workload, version)
        }
        self.objects = fresh
        return changed

    def apply(self, type_: str, item: Json) -> str:
        """Take one event; return the workload that changed, "" when nothing did."""
        uid, mark = item["metadata"]["uid"], _mark(item)
        if type_ == "DELETED":
            return mark[0] if self.objects.pop(uid, None) else ""
        if self.objects.get(uid) == mark:
            return ""
        self.objects[uid] = mark
        return mark[0]


def _mark(item: Json) -> tuple[str, str]:
    metadata = item["metadata"]
    workload = (metadata.get("labels") or {}).get(names.WORKLOAD, "")
    return workload, str(metadata.get("resourceVersion") or "")


def follow(
    kube: Kube,
    kind: Kind,
    namespace: str,
    *,
    owner: str,
    changed: Callable[[str], None],
    sleep: Callable[[float], None],
    is_over: Callable[[], bool],
    watch_seconds: int = WATCH_SECONDS,
) -> None:
    """Call `changed(workload)` for every change of our objects of a kind, until `is_over`.

    Args:
        kube: The cluster.
        kind: Of the objects: pods, Jobs or another kind of workload.
        namespace: Where they are.
        owner: Which control plane's objects.
        changed: Told the name of the workload; it must not take long.
        sleep: Waits that many seconds, or less when it is over.
        is_over: Whether to end.
        watch_seconds: Length of one watch.
    """
    held, pauses = Held(), _pauses()
    selector = names.selector(owner=owner)
    while not is_over():
        try:
            listing = kube.list(kind, namespace, selector=selector)
            for workload in sorted(held.replace(listing.items)):
                changed(workload)
            version = listing.version
            while not is_over():
                version = _watch_once(
                    kube, kind, namespace, selector, version, held, changed, is_over, watch_seconds
                )
                pauses = _pauses()
        except KubeError as error:
            # An expired version is no trouble of the cluster; the list that follows mends it.
            level = logging.INFO if error.is_expired else logging.WARNING
            logger.log(level, "watch.ended", extra={"kind": kind.plural, "error": error.message})
            sleep(max(next(pauses), error.retry_after_seconds))
        except Exception:
            # A thread that ended for good would be noticed by nobody.
            logger.exception("watch.failed", extra={"kind": kind.plural})
            sleep(next(pauses))


def _watch_once(
    kube: Kube, kind: Kind, namespace: str, selector: str, version: str, held: Held,
    changed: Callable[[str], None], is_over: Callable[[], bool], seconds: int,
) -> str:  # fmt: skip
    """Watch until the server ends it; return the version to go on from, bookmarks included."""
    stream = kube.watch(kind, namespace, selector=selector, version=version, seconds=seconds)
    for type_, item in stream:
        version = str(item["metadata"].get("resourceVersion") or version)
        if type_ != "BOOKMARK" and (workload := held.apply(type_, item)):
            changed(workload)
        if is_over():
            break
    return version


def _pauses() -> Iterator[float]:
    """Yield growing pauses with jitter, so that many watchers do not come back together."""
    pause = FIRST_PAUSE_SECONDS
    while True:
        yield pause * random.uniform(0.5, 1.0)
        pause = min(pause * 2, LONGEST_PAUSE_SECONDS)
