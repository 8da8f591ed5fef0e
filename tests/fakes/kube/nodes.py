"""What runs on the nodes: scripted pods for logic, real processes for end-to-end tests."""

import base64
import os
import re
import signal
import subprocess
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from workers.launchers.spawning import NICENESS

Json = dict[str, Any]


@dataclass(frozen=True)
class Ended:
    """How a container ended."""

    exit_code: int
    reason: str = ""
    message: str = ""


class Runtime(Protocol):
    """One way to run the containers of pods; pods are told apart by uid."""

    def waiting(self, pod: Json) -> tuple[str, str] | None:
        """Why the container cannot start (reason, message), or None."""

    def start(self, pod: Json, now: float) -> None:
        """Start the container."""

    def poll(self, pod: Json, now: float) -> Ended | None:
        """Return how it ended, or None while it runs."""

    def terminate(self, pod: Json, now: float, *, is_forced: bool) -> None:
        """Send SIGTERM, or SIGKILL."""

    def end_others(self, uids: set[str]) -> None:
        """Kill what runs for pods that are not among `uids`: they were taken away by force."""

    def log(self, uid: str) -> bytes | None:
        """What it printed; None before its start."""


@dataclass
class Behaviour:
    """What a scripted pod does. `seconds` None = it runs until it is stopped."""

    seconds: float | None = None
    exit_code: int = 0
    reason: str = ""
    message: str = ""
    waiting: tuple[str, str] | None = None
    is_deaf: bool = False
    exit_code_on_stop: int = 143
    message_on_stop: str = ""
    log: bytes = b"started\n"


@dataclass
class ScriptedRuntime:
    """Pods behave as the first matching script says; times are those of the cluster's clock."""

    scripts: list[tuple[Callable[[Json], bool], Behaviour]] = field(default_factory=list)
    _started: dict[str, float] = field(default_factory=dict)
    _ended: dict[str, Ended] = field(default_factory=dict)

    def behave(self, behaviour: Behaviour, when: Callable[[Json], bool] = lambda _: True) -> None:
        """Let pods that match behave so from now on; the newest script wins."""
        self.scripts.insert(0, (when, behaviour))

    def _of(self, pod: Json) -> Behaviour:
        return next((b for when, b in self.scripts if when(pod)), Behaviour())

    def waiting(self, pod: Json) -> tuple[str, str] | None:
        return self._of(pod).waiting

    def start(self, pod: Json, now: float) -> None:
        self._started[pod["metadata"]["uid"]] = now

    def poll(self, pod: Json, now: float) -> Ended | None:
        uid, script = pod["metadata"]["uid"], self._of(pod)
        if uid in self._ended:
            return self._ended[uid]
        if script.seconds is not None and now >= self._started[uid] + script.seconds:
            self._ended[uid] = Ended(script.exit_code, script.reason, script.message)
        return self._ended.get(uid)

    def terminate(self, pod: Json, now: float, *, is_forced: bool) -> None:
        uid, script = pod["metadata"]["uid"], self._of(pod)
        if is_forced:
            self._ended.setdefault(uid, Ended(137, "Error"))
        elif not script.is_deaf:
            ended = Ended(script.exit_code_on_stop, "", script.message_on_stop)
            self._ended.setdefault(uid, ended)

    def end_others(self, uids: set[str]) -> None:
        for uid in self._started.keys() - uids:
            self._ended.setdefault(uid, Ended(137, "Error"))

    def log(self, uid: str) -> bytes | None:
        return self.scripts[0][1].log if uid in self._started and self.scripts else b""


@dataclass
class ProcessRuntime:
    """Pods' commands run as processes of this machine, each in a directory of its own.

    Mount paths stand for directories below the pod's: in arguments and environment they are replaced.
    """

    find: Callable[[str, str, str], Json | None]
    extra_env: dict[str, str] = field(default_factory=dict)
    root: Path = field(default_factory=lambda: Path(tempfile.mkdtemp(prefix="fake-pods-")))
    _processes: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)
    _asked: set[int] = field(default_factory=set)

    def waiting(self, pod: Json) -> tuple[str, str] | None:
        container = pod["spec"]["containers"][0]
        space = pod["metadata"]["namespace"]
        if ".invalid/" in container["image"]:
            return "ErrImagePull", f"failed to pull image {container['image']}: no such host"
        for entry in container.get("env") or []:
            source = entry.get("valueFrom") or {}
            for kind, plural in (("secretKeyRef", "secrets"), ("configMapKeyRef", "configmaps")):
                name = source.get(kind, {}).get("name")
                if name and self.find(plural, space, name) is None:
                    return "CreateContainerConfigError", f'{plural[:-1]} "{name}" not found'
        return None

    def start(self, pod: Json, now: float) -> None:
        uid = pod["metadata"]["uid"]
        directory = self.root / uid
        directory.mkdir(parents=True)
        mounts = self._mounts(pod, directory)
        container = pod["spec"]["containers"][0]
        # What the node gives names places of this machine; only the pod's own words name mounts.
        given = {"PATH": os.environ["PATH"], "HOME": str(directory), **self.extra_env}
        own = self._env(pod, container)
        env = given | {key: _replace(value, mounts) for key, value in own.items()}
        words = [*container.get("command", []), *container.get("args", [])]
        command = [
            re.sub(r"\$\((\w+)\)", lambda m: (given | own).get(m[1], m[0]), word) for word in words
        ]
        with (directory / "output.log").open("wb") as output:
            self._processes[uid] = subprocess.Popen(
                [_replace(part, mounts) for part in command],
                env=env,
                stdout=output, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, cwd=directory,
                start_new_session=True,
            )  # fmt: skip
        # Pods of a real cluster have processors of their own.
        os.setpriority(os.PRIO_PROCESS, self._processes[uid].pid, NICENESS)

    def _mounts(self, pod: Json, directory: Path) -> dict[str, str]:
        volumes = {volume["name"]: volume for volume in pod["spec"].get("volumes") or []}
        mounts = {"/dev/termination-log": str(directory / "termination-log")}
        for mount in pod["spec"]["containers"][0].get("volumeMounts") or []:
            place = self._volume(pod, volumes[mount["name"]], directory)
            if mount["mountPath"] != "/dev/shm":
                mounts[mount["mountPath"]] = place
        return mounts

    def _volume(self, pod: Json, volume: Json, directory: Path) -> str:
        if "hostPath" in volume:
            return str(volume["hostPath"]["path"])
        place = directory / volume["name"]
        place.mkdir(exist_ok=True)
        space = pod["metadata"]["namespace"]
        if name := volume.get("secret", {}).get("secretName"):
            for key, value in ((self.find("secrets", space, name) or {}).get("data") or {}).items():
                (place / key).write_bytes(base64.b64decode(value))
        if name := volume.get("configMap", {}).get("name"):
            data = (self.find("configmaps", space, name) or {}).get("data") or {}
            for key, value in data.items():
                (place / key).write_text(value)
        return str(place)

    def _env(self, pod: Json, container: Json) -> dict[str, str]:
        env: dict[str, str] = {}
        for entry in container.get("env") or []:
            env[entry["name"]] = self._value(pod, entry)
        for name, value in list(env.items()):
            for other, its in env.items():
                value = value.replace(f"$({other})", its)
            env[name] = value
        return env

    def _value(self, pod: Json, entry: Json) -> str:
        source, space = entry.get("valueFrom"), pod["metadata"]["namespace"]
        if source is None:
            return str(entry.get("value", ""))
        if ref := source.get("secretKeyRef"):
            secret = self.find("secrets", space, ref["name"]) or {}
            return base64.b64decode(secret["data"][ref["key"]]).decode()
        if ref := source.get("configMapKeyRef"):
            return str((self.find("configmaps", space, ref["name"]) or {})["data"][ref["key"]])
        path = source["fieldRef"]["fieldPath"]
        if "['" in path:
            part, key, _ = path.split("'")
            return str(pod["metadata"][part.removeprefix("metadata.").rstrip("[")][key])
        found: Any = pod
        for step in path.split("."):
            found = found[step]
        return str(found)

    def poll(self, pod: Json, now: float) -> Ended | None:
        uid = pod["metadata"]["uid"]
        code = self._processes[uid].poll()
        if code is None:
            return None
        told = self.root / uid / "termination-log"
        message = told.read_text()[:4096] if told.exists() else ""
        return Ended(code if code >= 0 else 128 - code, "", message)

    def terminate(self, pod: Json, now: float, *, is_forced: bool) -> None:
        process = self._processes.get(pod["metadata"]["uid"])
        if process is None or process.poll() is not None:
            return
        if is_forced:
            os.killpg(process.pid, signal.SIGKILL)
        elif process.pid not in self._asked:
            self._asked.add(process.pid)
            process.send_signal(signal.SIGTERM)

    def end_others(self, uids: set[str]) -> None:
        for uid in self._processes.keys() - uids:
            self._kill(self._processes[uid])

    def log(self, uid: str) -> bytes | None:
        path = self.root / uid / "output.log"
        return path.read_bytes() if path.exists() else None

    def stop(self) -> None:
        """Kill what still runs."""
        self.end_others(set())

    def _kill(self, process: subprocess.Popen[bytes]) -> None:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def _replace(text: str, mounts: dict[str, str]) -> str:
    """Replace mount paths, the longest that fits first, and nothing in what was put in their place."""
    paths = sorted(mounts, key=len, reverse=True)
    found = re.compile("|".join(rf"(?<![\w./-]){re.escape(path)}(?![\w.-])" for path in paths))
    return found.sub(lambda match: mounts[match[0]], text)
