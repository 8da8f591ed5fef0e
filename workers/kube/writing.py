"""Making and removing our objects: every act may be repeated, and what is not provably ours is never touched."""

import logging
import time
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any

from workers.kube import names
from workers.kube.api import Kube
from workers.kube.conditions import condition
from workers.kube.errors import KubeError
from workers.kube.forms import Form
from workers.kube.kinds import JOB, NODE, POD, SECRET, SERVICE, Kind
from workers.kube.objects import Place
from workers.kube.pods import silent_since
from workers.launchers.base import LauncherError

logger = logging.getLogger(__name__)
Json = dict[str, Any]
# A tenth of a second was seen; longer than that a refusal is meant.
ROLES_SECONDS = 1.0
# What a forced end leaves the kubelet to kill and confirm; with 0 the object would vanish unconfirmed.
KILL_GRACE_SECONDS = 1
# How long a node must have been silent before its pods are given up unconfirmed.
NODE_LOST_AFTER = timedelta(seconds=60)


class Writer:
    """Our objects in one namespace."""

    def __init__(self, kube: Kube, place: Place) -> None:
        self._kube, self._place = kube, place

    def ensure(self, kind: Kind, item: Json) -> Json:
        """Create the object, or adopt the one that is provably ours.

        Raises:
            LauncherError: It was refused, could not be sent, or the name belongs to something else.
        """
        name = item["metadata"]["name"]
        try:
            return self._create(kind, item)
        except KubeError as error:
            if not error.is_taken:
                raise
        found = self._kube.read(kind, self._place.namespace, name)
        if not self.is_ours(found, name):
            raise self._not_ours(kind, name)
        if "deletionTimestamp" in found["metadata"]:
            message = f"The {kind.name} {name} is being deleted; its name is not used again."
            raise LauncherError(message, can_retry=False)
        return found

    def adopt_companions(self, form: Form, made: Json) -> None:
        """Let Secret and Service go when the workload goes."""
        metadata = made["metadata"]
        owner = {"apiVersion": form.kind.api_version, "kind": form.kind.name}
        owner |= {"name": metadata["name"], "uid": metadata["uid"]}
        for kind in (SECRET, SERVICE) if form.makes_service else (SECRET,):
            change = {"metadata": {"ownerReferences": [owner]}}
            self._kube.patch(kind, self._place.namespace, metadata["name"], change)

    def remove_companions(self, name: str) -> None:
        """Remove Secret and Service."""
        for kind in (SECRET, SERVICE):
            found = self.find(kind, name)
            if found and self.is_ours(found, name):
                uid = found["metadata"]["uid"]
                self._kube.delete(kind, self._place.namespace, name, uid=uid)

    def close(self, form: Form, name: str) -> bool:
        """Occupy the name in one form with something that never runs; return whether a workload of ours has it.

        Raises:
            LauncherError: The cluster refuses it (final), or could not be reached.
        """
        try:
            self._create(form.kind, form.tombstone(name, self._place))
        except KubeError as error:
            if error.is_taken:
                return self._mark_closed(form, name)
            raise
        return False

    def delete_workload(self, forms: Iterable[Form], name: str, *, is_foreground: bool) -> None:
        """Delete what has the name, in any of the forms."""
        for form in forms:
            found = self._find_workload(form, name)
            if found is None:
                continue
            if not self.is_ours(found, name):
                facts = {"workload": name, "kind": form.kind.name}
                logger.warning("workload.not_ours", extra=facts)
                continue
            uid = found["metadata"]["uid"]
            self._kube.delete(
                form.kind, self._place.namespace, name, uid=uid, is_foreground=is_foreground
            )

    def end_pods(self, name: str, now: Callable[[], datetime]) -> None:
        """End the pods of a workload; those of a node that is long lost are given up unconfirmed."""
        ours = names.selector(owner=self._place.owner, name=name)
        for pod in self._kube.list(POD, self._place.namespace, selector=ours).items:
            metadata = pod["metadata"]
            silent = self._silent_since(pod)
            is_lost = silent is not None and now() - silent >= NODE_LOST_AFTER
            grace = 0 if is_lost else KILL_GRACE_SECONDS
            self._kube.delete(
                POD, self._place.namespace, metadata["name"], uid=metadata["uid"],
                grace_seconds=grace,
            )  # fmt: skip

    def find(self, kind: Kind, name: str) -> Json | None:
        """Return the object, or None where there is none."""
        try:
            return self._kube.read(kind, self._place.namespace, name)
        except KubeError as error:
            if error.is_absent:
                return None
            raise

    def is_ours(self, item: Mapping[str, Any], name: str) -> bool:
        """Whether this control plane made it for this very workload."""
        return names.is_ours(item, owner=self._place.owner, name=name)

    def _create(self, kind: Kind, item: Json) -> Json:
        """Create; once more after a 403, which an API server gives while its roles are still being loaded."""
        try:
            return self._kube.create(kind, self._place.namespace, item)
        except KubeError as error:
            if error.status != 403:
                raise
        time.sleep(ROLES_SECONDS)
        return self._kube.create(kind, self._place.namespace, item)

    def _mark_closed(self, form: Form, name: str) -> bool:
        found = self.find(form.kind, name)
        if found is None or names.is_tombstone(found):
            return False
        if not self.is_ours(found, name):
            raise self._not_ours(form.kind, name)
        change = {"metadata": {"labels": {names.FENCE: names.CLOSED}}}
        try:
            self._kube.patch(form.kind, self._place.namespace, name, change)
        except KubeError as error:
            if error.is_absent:  # it went meanwhile; the next look has the name closed
                return False
            raise
        return True

    def _not_ours(self, kind: Kind, name: str) -> LauncherError:
        message = f"A {kind.name} named {name} exists in {self._place.namespace} and is not ours."
        return LauncherError(message, can_retry=False)

    def _find_workload(self, form: Form, name: str) -> Json | None:
        """Return the workload; of a kind that we may not read there is none of ours."""
        try:
            return self.find(form.kind, name)
        except KubeError as error:
            if error.status == 403 and form.kind != JOB:
                return None
            raise

    def _silent_since(self, pod: Json) -> datetime | None:
        """Return since when the node of a pod has been silent, by the node or, where we may not see it, by the pod."""
        node_name = (pod.get("spec") or {}).get("nodeName")
        if not node_name:
            return None
        try:
            node = self._kube.read(NODE, "", node_name)
        except KubeError as error:
            if error.is_absent:
                return datetime.fromisoformat(pod["metadata"]["creationTimestamp"])
            return _time(silent_since(pod))
        ready = condition(node, "Ready") or {}
        is_silent = ready.get("status") != "True"
        return _time(str(ready.get("lastTransitionTime") or "")) if is_silent else None


def _time(text: str) -> datetime | None:
    return datetime.fromisoformat(text) if text else None
