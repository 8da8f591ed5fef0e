"""Many pods of one Job, each the real wrapper with a real, light program that reports through the library.

A torchrun of so many nodes would load torch once a pod; here every pod is a world of its own that knows its rank.
"""

import copy
from typing import Any

from runs.models import Attempt
from runs.services import attempts
from tests.cluster.ground import Ground
from tests.factories import make_run
from tests.workers.kube.test_objects import spec
from workers.kube import objects
from workers.kube.forms import FORMS
from workers.kube.kinds import JOB, SECRET
from workers.kube.objects import Place
from workers.launchers.kubernetes import options_of

STEPS = 3
PROGRAM = f"""
import os
os.environ["RANK"] = os.environ["JOB_COMPLETION_INDEX"]
import safehold
run = safehold.init()
for step in range(1, {STEPS} + 1):
    run.log(step, {{"train/loss": run.rank + step / 10}}, tokens=step)
run.finish()
"""


def start(ground: Ground, num: int) -> Attempt:
    """Make a Job of so many pods for a recorded attempt, which the service follows as any other."""
    run = make_run(launcher=ground.cluster.launcher, desired="running", num_devices=num)
    attempt = attempts.create_attempt(run=run)
    place = Place(namespace=ground.namespace, owner=ground.cluster.owner, image="")
    asked = {"image": ground.cluster.image, "shared_memory": "", **ground.kubernetes}
    options = options_of({"kubernetes": asked})
    wanted = spec(
        name=attempt.name, run_id=run.pk, attempt=1, nodes=num, devices=num, config={}, token=attempts.token_of(attempt),
        ingest_url=ground.cluster.ingest_url, command=("python", "-c", PROGRAM),
    )  # fmt: skip
    job = copy.deepcopy(FORMS["job"].build(wanted, options, place))
    container = job["spec"]["template"]["spec"]["containers"][0]
    container |= {"command": _alone(container["command"]), "resources": {}}
    ground.kube.create(SECRET, ground.namespace, objects.secret(wanted, place))
    made = ground.kube.create(JOB, ground.namespace, job)
    Attempt.objects.filter(pk=attempt.pk).update(
        state="starting", handle={"uid": made["metadata"]["uid"], "kind": "Job"}
    )
    type(run).objects.filter(pk=run.pk).update(needs_reconcile=True)
    return attempt


def _alone(command: list[str]) -> list[str]:
    """Return the wrapper's command for a pod that meets nobody."""
    at = command.index("--")
    changed: list[Any] = [*command[:at], "--nnodes", "1", "--node-rank", "0", *command[at:]]
    return changed
