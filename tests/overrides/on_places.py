"""Attempts where it runs: files, environment, live objects of a cluster. Blocked at start, or flagged."""

import copy
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from safehold import environment
from safehold.config import ConfigInvalid, parse
from safehold.config.kubernetes import Kubernetes
from tests.overrides.world import World
from tests.workers.kube.test_drift import served
from tests.workers.kube.test_objects import spec as kube_spec
from workers import specs
from workers.kube.drift import drift, secret_drift
from workers.kube.forms import FORMS
from workers.kube.objects import Place
from workers.launchers import local_drift
from workers.launchers.folder import Folder
from workers.launchers.local_environment import environment_of

Edit = Callable[[dict[str, Any]], Any]
FILE_EDITS: dict[str, Edit] = {
    "another rate": lambda d: d["optimizer"].update(lr=1e-3),
    "another batch": lambda d: d["train"].update(global_batch=16),
    "another length": lambda d: d["train"].update(steps=40),
    "another seed": lambda d: d["train"].update(seed=9),
    "other data": lambda d: d["data"].update(path="/other"),
    "another root": lambda d: d["checkpoint"].update(root="/other"),
    "another clip": lambda d: d["optimizer"].update(clip=9.0),
    "one more field": lambda d: d["optimizer"].update(momentum=0.9),
    "a field less": lambda d: d["optimizer"].pop("weight_decay"),
    "a section less": lambda d: d.pop("data"),
    "another kind": lambda d: d.update(kind="experiment"),
}


def at_start(world: World) -> Iterator[tuple[str, Callable[[], object]]]:
    """Yield what a trainer must refuse when it starts: a file that is not what was launched."""
    for name, edit in FILE_EDITS.items():
        yield f"file with {name}", lambda e=edit: _read_edited(world, e)
    yield (
        "another file named",
        lambda: _read(world, {"SAFEHOLD_CONFIG": _written(world, {"name": "other"})}),
    )
    yield "no file", lambda: _read(world, {"SAFEHOLD_CONFIG": str(world.folder / "gone.json")})
    for name in (
        "SAFEHOLD_CONFIG",
        "SAFEHOLD_CONFIG_HASH",
        "SAFEHOLD_DIR",
        "SAFEHOLD_TOKEN",
        "RANK",
        "WORLD_SIZE",
    ):
        yield f"{name} set by the config", lambda n=name: _config_with_env(n)


def while_it_runs(world: World) -> Iterator[tuple[str, Callable[[], object]]]:
    """Yield what must be flagged: each returns the findings."""
    for name, edit in FILE_EDITS.items():
        yield f"local file with {name}", lambda e=edit: _local(world, e)
    yield "local file gone", lambda: _local(world, None)
    for name, change in _POD_EDITS.items():
        yield f"kubectl edit: {name}", lambda c=change: _edited_job(c)
    yield "retagged image", _retagged
    yield "config in the Secret replaced", lambda: _secret({"config.json": "e30="})
    yield "Secret gone", lambda: secret_drift(_built_secret(), None)


def kept_out(world: World) -> Iterator[tuple[str, Callable[[], bool]]]:
    """Yield what has no effect: each returns whether the training still gets what was launched."""
    for name in (
        "SAFEHOLD_CONFIG",
        "SAFEHOLD_CONFIG_HASH",
        "SAFEHOLD_RESUME_FROM",
        "SAFEHOLD_WEIGHTS_FROM",
        "LR",
        "OPTIMIZER__LR",
        "TRAIN_STEPS",
    ):
        yield f"{name} in the worker's environment", lambda n=name: _without(world, n)


def _written(world: World, document: Any) -> str:
    place = world.folder / "config.json"
    place.write_text(json.dumps(document))
    return str(place)


def _read(world: World, env: dict[str, str]) -> object:
    return environment.read(
        {"SAFEHOLD_CONFIG_HASH": world.config.hash, "SAFEHOLD_DIR": str(world.folder)} | env
    )


def _read_edited(world: World, edit: Edit) -> object:
    document = copy.deepcopy(world.config.document)
    edit(document)
    return _read(world, {"SAFEHOLD_CONFIG": _written(world, document)})


def _config_with_env(name: str) -> object:
    from tests.safehold.documents import make_document

    document = make_document(compute__launcher="kubernetes", kubernetes={"env": {name: "1"}})
    try:
        return parse(document)
    except ConfigInvalid as error:
        raise ValueError(str(error)) from error


def _local(world: World, edit: Edit | None) -> object:
    from tests.factories import make_attempt

    spec = specs.spec_of(make_attempt(run=world.run))
    folder = Folder(world.folder / spec.name)
    folder.make()
    document = copy.deepcopy(dict(spec.config))
    folder.write("config.json", json.dumps(document))
    assert local_drift.drift(spec, folder) == []
    if edit is None:
        (folder.path / "config.json").unlink()
    else:
        edit(document)
        folder.write("config.json", json.dumps(document))
    return local_drift.drift(spec, folder)


def _main(pod: dict[str, Any]) -> dict[str, Any]:
    return pod["spec"]["containers"][0]


_POD_EDITS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "another image": lambda pod: _main(pod).update(image="other:1"),
    "another command": lambda pod: _main(pod).update(command=["sh", "-c", "true"]),
    "arguments added": lambda pod: _main(pod).update(args=["--lr", "1"]),
    "a variable said again": lambda pod: _main(pod)["env"].append(
        {"name": "SAFEHOLD_RUN_ID", "value": "9"}
    ),
    "a variable changed": lambda pod: _variable(pod, "NCCL_DEBUG").update(value="other"),
    "a variable taken away": lambda pod: _main(pod)["env"].remove(_variable(pod, "NCCL_DEBUG")),
    "a file mounted over the data": lambda pod: _main(pod)["volumeMounts"].append(
        {"name": "x", "mountPath": "/data"}
    ),
    "the data taken away": lambda pod: _main(pod)["volumeMounts"].clear(),
    "other volumes": lambda pod: pod["spec"]["volumes"].clear(),
    "more memory": lambda pod: _main(pod)["resources"]["limits"].update(memory="9Gi"),
    "another user": lambda pod: pod["spec"].update(securityContext={"runAsUser": 0}),
}


def _variable(pod: dict[str, Any], name: str) -> dict[str, Any]:
    return next(one for one in _main(pod)["env"] if one["name"] == name)


def _built() -> dict[str, Any]:
    options = Kubernetes.model_validate(
        {
            "env": {"NCCL_DEBUG": "INFO"},
            "cpu": "0.5",
            "memory": "1024Mi",
            "volumes": [{"mount_path": "/data", "claim": "data"}],
            "tolerations": [{"key": "gpu"}],
        }
    )
    return FORMS["job"].build(
        kube_spec(), options, Place(namespace="team", owner="us", image="trainer:1")
    )


def _edited_job(change: Callable[[dict[str, Any]], Any]) -> object:
    built = _built()
    live, pods = served(built)
    assert drift(built, live, pods) == []
    change(live["spec"]["template"])
    return drift(built, live, pods)


def _retagged() -> object:
    built = _built()
    live, pods = served(built)
    for number, pod in enumerate(pods):
        pod.setdefault("status", {})["containerStatuses"] = [
            {"name": _main(pod)["name"], "imageID": f"registry/x@sha256:{number:064d}"}
        ]
    return drift(built, live, pods)


def _built_secret() -> dict[str, Any]:
    return {"metadata": {"name": "x"}, "data": {"config.json": "eyJhIjogMX0="}}


def _secret(data: dict[str, str]) -> object:
    return secret_drift(_built_secret(), {"metadata": {"name": "x"}, "data": data})


def _without(world: World, name: str) -> bool:
    import os

    from tests.factories import make_attempt

    spec = specs.spec_of(make_attempt(run=world.run))
    os.environ[name] = "/other"
    try:
        made = environment_of(Path("/attempts/x"), spec)
    finally:
        del os.environ[name]
    return (
        made.get("SAFEHOLD_CONFIG") == "/attempts/x/config.json" and "/other" not in made.values()
    )
