"""Where a live workload is not what was built from its config, field by field: a pure function over plain JSON.

What was asked for and is no longer so is drift. What a server, its controllers, a queue or an admission webhook put
beside it (defaults, sidecars, variables, volumes, labels) is not, unless it takes the place of what was asked for.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from safehold.findings import Finding, fail
from workers.kube import volumes
from workers.kube.amounts import same_amount
from workers.kube.conditions import main_status

Json = Mapping[str, Any]
CODE = "CONF-2.drift"
_ADVICE = "Stop the run and launch it again, or ask who changed the object: what it trains is not what was approved."
_MISSING = object()
_OTHER = "another value"
# What tells the entries of a list apart; other lists are compared as they stand.
_KEYS = ("mountPath", "name", "topologyKey", "manager")
# A queue suspends and resumes; what is there beside our own labels and annotations is somebody else's.
_IGNORED = frozenset({"spec.suspend", "metadata.namespace", "apiVersion", "kind"})
# Beside a command that we gave these are part of what runs.
_SAME_PROGRAM = ("args", "command")


@dataclass(frozen=True)
class Difference:
    """One field: what was asked for, what is there, and in which object."""

    field: str
    expected: Any
    found: Any
    where: str


def drift(
    built: Json, live: Json, pods: Sequence[Json], *, known_images: Iterable[str] = (),
    uid: str = "",
) -> list[Finding]:  # fmt: skip
    """Return a finding for every field of a workload or its pods that is not as built.

    Args:
        built: The workload as it is built from the config.
        live: The same object as the cluster holds it.
        pods: Its pods, as listed; one field that differs in many of them is one finding.
        known_images: Ids of the image that earlier attempts with the same image ran.
        uid: Of the object that was made for the attempt, where it is known.
    """
    kind = str(built["kind"])
    found = [*_differences(built, live, "", f"the {kind}")]
    if uid and live["metadata"].get("uid") != uid:
        found.append(Difference("metadata.uid", uid, live["metadata"].get("uid"), f"the {kind}"))
    expected = pod_of(built)
    for pod in pods:
        found += _differences(expected, pod, "", f"pod {pod['metadata']['name']}")
    found += _retagged(expected, pods, known_images)
    by_field: dict[str, list[Difference]] = {}
    for one in found:
        by_field.setdefault(one.field, []).append(one)
    return [_finding(several) for _, several in sorted(by_field.items())]


def secret_drift(built: Json, live: Json | None) -> list[Finding]:
    """Return a finding for every key of the attempt's Secret that holds something else; never what it holds."""
    if live is None:
        return [_finding([Difference("secret", "there", "gone", f"Secret {_name(built)}")])]
    data = live.get("data") or {}
    return [
        _finding([Difference(f"secret.{key}", "as built", "another content", f"Secret {_name(built)}")])
        for key, value in built["data"].items()
        # What cannot be known any more, as a token after a change of the secret key, is not compared.
        if value and data.get(key) != value
    ]  # fmt: skip


def image_ids(pods: Iterable[Json]) -> list[str]:
    """Return the digests of the images that the pods really run, where their nodes tell that of the manifest."""
    found = {str(main_status(pod).get("imageID") or "") for pod in pods}
    return sorted(one.rpartition("@")[2] for one in found if "@" in one)


def pod_of(built: Json) -> Json:
    """Return what every pod of a built workload must be, whatever its form."""
    spec = built["spec"]
    if "template" in spec:
        return dict(spec["template"])
    if "replicatedJobs" in spec:
        return dict(spec["replicatedJobs"][0]["template"]["spec"]["template"])
    return _pod_of_trainjob(spec)


def _pod_of_trainjob(spec: Json) -> Json:
    """Return the trainer's own fields and the patches; the rest is the runtime's, and its owner's affair."""
    jobs = spec["runtimePatches"][0]["trainingRuntimeSpec"]["template"]["spec"]["replicatedJobs"]
    patched = jobs[0]["template"]["spec"]["template"]
    trainer = spec["trainer"]
    own = {key: trainer[key] for key in ("image", "command", "env")}
    own["resources"] = trainer["resourcesPerNode"]
    container = patched["spec"]["containers"][0] | own
    return {"metadata": patched["metadata"], "spec": patched["spec"] | {"containers": [container]}}


def _differences(expected: Any, found: Any, path: str, where: str) -> Iterator[Difference]:
    if path in _IGNORED:
        return
    if isinstance(expected, Mapping):
        yield from _of_tables(expected, found, path, where)
    elif isinstance(expected, list | tuple):
        yield from _of_lists(expected, found, path, where)
    elif not _is_same(expected, found):
        shown = None if found is _MISSING else found
        # What somebody put into a variable may be a secret.
        yield Difference(path, expected, _OTHER if shown and ".env." in path else shown, where)


def _of_tables(expected: Json, found: Any, path: str, where: str) -> Iterator[Difference]:
    table = found if isinstance(found, Mapping) else {}
    for key, value in expected.items():
        yield from _differences(value, table.get(key, _MISSING), _join(path, key), where)
    if not any(key in expected for key in _SAME_PROGRAM):
        return
    for key in _SAME_PROGRAM:
        if key not in expected and table.get(key):
            yield Difference(_join(path, key), None, table[key], where)


def _of_lists(expected: Sequence[Any], found: Any, path: str, where: str) -> Iterator[Difference]:
    entries = found if isinstance(found, list) else []
    name = path.rpartition(".")[2]
    key = _key_of(expected)
    # Of two volumes at one place, and of two variables of one name, the last is the one that counts.
    held = {str(entry.get(key)): entry for entry in entries if isinstance(entry, Mapping)}
    if name == "tolerations" or (key and len({str(one[key]) for one in expected}) < len(expected)):
        missing = [one for one in expected if not any(_is_in(one, entry) for entry in entries)]
        if missing:
            yield Difference(path, missing, entries, where)
        return
    if key is None:
        if list(expected) != entries:
            yield Difference(path, list(expected), entries, where)
        return
    for one in expected:
        inner = _join(path, str(one[key]))
        yield from _differences(one, held.get(str(one[key]), _MISSING), inner, where)
    if name == "volumeMounts":
        yield from _of_covered(expected, entries, path, where)


def _of_covered(
    expected: Sequence[Any], entries: Sequence[Any], path: str, where: str
) -> Iterator[Difference]:
    """Yield mounts inside of those that were asked for: something else is then read there."""
    asked = [one for one in expected if str(one.get("name")).startswith(volumes.PREFIX)]
    ours = [str(one["mountPath"]).rstrip("/") for one in asked]
    for entry in entries:
        place = str(entry.get("mountPath", "")).rstrip("/")
        if place not in ours and any(place.startswith(f"{our}/") for our in ours):
            yield Difference(_join(path, place), None, entry, where)


def _retagged(expected: Json, pods: Sequence[Json], known: Iterable[str]) -> Iterator[Difference]:
    ids = image_ids(pods)
    everything = sorted({*ids, *known})
    if ids and len(everything) > 1:
        image = expected["spec"]["containers"][0].get("image", "")
        yield Difference("imageID", f"one image for {image}", everything, "its pods")


def _key_of(entries: Sequence[Any]) -> str | None:
    for key in _KEYS:
        if entries and all(isinstance(one, Mapping) and key in one for one in entries):
            return key
    return None


def _is_in(expected: Any, found: Any) -> bool:
    return not any(True for _ in _differences(expected, found, "", ""))


def _is_same(expected: Any, found: Any) -> bool:
    if expected == found:
        return True
    # The server leaves out what is false, empty or zero.
    if found is _MISSING:
        return expected in (False, "", 0)
    return same_amount(expected, found)


def _finding(several: Sequence[Difference]) -> Finding:
    first = several[0]
    more = f" and {len(several) - 1} more" if len(several) > 1 else ""
    message = f"{first.field} of {first.where}{more} is {_told(first.found)}; the config says {_told(first.expected)}."
    evidence = {
        "field": first.field, "expected": _shown(first.expected), "found": _shown(first.found),
        "where": [one.where for one in several[:20]], "num": len(several),
    }  # fmt: skip
    return fail(message, code=CODE, evidence=evidence, advice=_ADVICE)


def _told(value: Any) -> str:
    if value is None:
        return "not there"
    shown = _shown(value)
    text = ", ".join(map(str, shown)) if isinstance(shown, list) else str(shown)
    return text if len(text) <= 120 else f"{text[:117]}..."


def _shown(value: Any) -> Any:
    """Return a value for people."""
    if isinstance(value, list):
        return [_shown(one) for one in value[:20]]
    return str(value) if isinstance(value, Decimal) else value


def _join(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def _name(item: Json) -> str:
    return str(item["metadata"]["name"])
