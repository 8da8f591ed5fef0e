"""Whether the checkpoints can be written where the config says, and have room."""

from collections.abc import Iterator

from safehold.config import RunConfig
from safehold.findings import Finding, fail, passed, unknown, warn
from safehold.planning import plan_run
from safehold.preflight.base import Facts, check
from safehold.preflight.facts import CheckpointFacts


@check("CONF-3.checkpoint_path", group="checkpoint")
def checkpoint_path(facts: Facts) -> Iterator[Finding]:
    """The checkpoint root takes a real write, and has room for what is kept and one more."""
    if facts.config is None or facts.checkpoint is None:
        yield unknown(
            "The checkpoint root was not looked at.", advice="Run the check where it is mounted."
        )
        return
    found, config = facts.checkpoint, facts.config
    if found.error:
        yield fail(
            f"{found.root} cannot take checkpoints: writing in {found.probed} failed, {found.error}.",
            evidence={"path": found.root, "probed": found.probed},
            advice="Choose a folder that the trainer may write to.",
        )
        return
    if not found.root.startswith("/"):
        yield warn(
            f"{found.root} is a relative path; a trainer starts in a folder of its own.",
            advice="Write the whole path.",
        )
    yield _room(found, config)


def _room(found: CheckpointFacts, config: RunConfig) -> Finding:
    size = plan_run(config).checkpoint_bytes
    if size is None:
        return unknown("The size of a checkpoint is not known for a mixture of experts.")
    kept = config.checkpoint.keep_anchors
    need = size * (kept + 1)
    evidence = {
        "path": found.root, "need_bytes": need, "usable_bytes": found.usable_bytes, "checkpoint_bytes": size,
        "free_bytes": found.free_bytes, "quota_bytes": found.quota_bytes,
    }  # fmt: skip
    if need <= found.usable_bytes:
        return passed(
            f"{found.root} takes writes and has room for {kept} checkpoints and one more.",
            evidence=evidence,
        )
    return fail(
        f"{found.root} needs {need:,.0f} bytes for {kept} checkpoints and one being written, "
        f"{found.usable_bytes:,} are usable.",
        evidence=evidence,
        advice="Lower checkpoint.keep_anchors, or choose a larger volume.",
    )
