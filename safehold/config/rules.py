"""Rules over several fields. Each names the field to change, and all are asked, so that no fault hides another."""

from collections import Counter
from collections.abc import Callable, Iterator

from safehold.config.errors import STEPS, ConfigError
from safehold.config.schema import RunConfig

POD_FOLDERS = frozenset({"/var/safehold", "/tmp", "/dev/shm"})  # that the launcher mounts itself
SHARE_TOLERANCE = 1e-6  # shares are typed by hand: 0.333333 three times is meant to be 1


def broken_rules(config: RunConfig) -> list[ConfigError]:
    """Return what cannot work in a config whose fields are each sound."""
    return [error for rule in RULES for error in rule(config)]


def heads_divide_hidden(config: RunConfig) -> Iterator[ConfigError]:
    """Each head gets the same part of the hidden size: `heads` divides `hidden`."""
    hidden, heads = config.network.hidden, config.network.heads
    if hidden % heads:
        yield ConfigError("network.heads", f"{heads} heads do not divide the hidden size {hidden}.")


def kv_heads_divide_heads(config: RunConfig) -> Iterator[ConfigError]:
    """Heads of keys and values are shared evenly: `kv_heads` divides `heads`."""
    heads, shared = config.network.heads, config.network.kv_heads
    if shared and heads % shared:
        yield ConfigError(
            "network.kv_heads", f"{shared} heads of keys and values do not divide {heads} heads."
        )


def experts_belong_to_a_mixture(config: RunConfig) -> Iterator[ConfigError]:
    """Experts are told of a mixture only, and a token goes through one to all of them."""
    network = config.network
    told = network.experts or network.experts_per_token or network.shared_experts
    if network.architecture == "dense" and told:
        yield ConfigError(
            "network.experts",
            "A dense network has no experts.",
            'Set network.architecture = "moe".',
        )
    elif network.experts_per_token > network.experts or (
        network.experts and not network.experts_per_token
    ):
        yield ConfigError(
            "network.experts_per_token",
            f"A token cannot go through {network.experts_per_token} of {network.experts} experts.",
        )


def mix_sums_to_one(config: RunConfig) -> Iterator[ConfigError]:
    """The shares of `data.mix` sum to 1."""
    total = sum(config.data.mix.values())
    if config.data.mix and abs(total - 1) > SHARE_TOLERANCE:
        yield ConfigError("data.mix", f"The shares sum to {total:.6g}, not to 1.")


def batch_divides(config: RunConfig) -> Iterator[ConfigError]:
    """`global_batch` is a multiple of `devices` × `accumulation`: every micro-batch has the same size."""
    devices, accumulation = config.compute.devices, config.train.accumulation
    if config.train.global_batch % (devices * accumulation):
        yield ConfigError(
            "train.global_batch",
            f"{config.train.global_batch} is not a multiple of devices × accumulation = {devices} × {accumulation}.",
            f"Choose a multiple of {devices * accumulation}.",
        )


def nodes_divide_devices(config: RunConfig) -> Iterator[ConfigError]:
    """`nodes` divides `devices`."""
    devices, nodes = config.compute.devices, config.compute.nodes
    if devices % nodes:
        yield ConfigError(
            "compute.nodes", f"{devices} devices cannot be shared evenly by {nodes} nodes."
        )


def minimum_below_peak(config: RunConfig) -> Iterator[ConfigError]:
    """`min_lr` is at most `lr`."""
    if config.optimizer.min_lr > config.optimizer.lr:
        yield ConfigError(
            "optimizer.min_lr",
            f"{config.optimizer.min_lr:g} is above the peak rate {config.optimizer.lr:g}.",
        )


def warmup_fits(config: RunConfig) -> Iterator[ConfigError]:
    """Warmup and the decay after it fit into `steps`; a decay needs at least one step."""
    warmup, steps = config.optimizer.warmup_steps, config.train.steps
    decay = 0 if config.optimizer.schedule == "constant" else max(1, config.optimizer.decay_steps)
    if warmup + decay > steps:
        yield _steps(
            "optimizer.warmup_steps",
            f"Warmup plus decay exceeds the run: {warmup} warmup steps of {steps} steps leave no room "
            f"for the {config.optimizer.schedule} schedule.",
            "Lower optimizer.warmup_steps or raise train.steps.",
        )


def three_parts_have_a_decay(config: RunConfig) -> Iterator[ConfigError]:
    """`decay_steps` is given for the schedule `three_part`, and for no other."""
    decay, schedule = config.optimizer.decay_steps, config.optimizer.schedule
    if schedule == "three_part" and not decay:
        yield _steps(
            "optimizer.decay_steps",
            "The three-part schedule has no decay.",
            f"About a fifth of the run is usual: {max(1, config.train.steps // 5)}.",
        )
    elif decay and schedule != "three_part":
        yield _steps(
            "optimizer.decay_steps",
            f"The {schedule} schedule has no part of its own for the decay; it is {decay}.",
            'Set it to 0, or optimizer.schedule = "three_part".',
        )


def an_anchor_is_written(config: RunConfig) -> Iterator[ConfigError]:
    """`anchor_every_steps` is at most `steps`: at least one checkpoint is written."""
    every, steps = config.checkpoint.anchor_every_steps, config.train.steps
    if every > steps:
        yield _steps(
            "checkpoint.anchor_every_steps",
            f"No checkpoint would ever be written: one is due every {every} steps and the run has {steps}.",
            f"Set it to at most {steps}.",
        )


def intervals_fit(config: RunConfig) -> Iterator[ConfigError]:
    """`eval_every`, `snapshot_every_steps` and `log.every` are at most `steps`."""
    steps = config.train.steps
    intervals = {
        "checkpoint.snapshot_every_steps": config.checkpoint.snapshot_every_steps,
        "train.eval_every": config.train.eval_every,
        "log.every": config.log.every,
    }
    for path, every in intervals.items():
        if every > steps:
            yield _steps(
                path,
                f"{every} steps is longer than the run of {steps} steps.",
                f"Set it to at most {steps}.",
            )


def the_section_belongs_to_its_launcher(config: RunConfig) -> Iterator[ConfigError]:
    """`[kubernetes]` stands in a config for the launcher `kubernetes` only."""
    if config.kubernetes is not None and config.compute.launcher != "kubernetes":
        yield ConfigError(
            "kubernetes",
            f"The section is for the launcher kubernetes; compute.launcher is {config.compute.launcher}.",
            'Leave it out, or set compute.launcher = "kubernetes".',
        )


def workload_has_its_runtime(config: RunConfig) -> Iterator[ConfigError]:
    """`kubernetes.runtime` is given for a `trainjob`, and for nothing else."""
    asked = config.kubernetes
    if asked is None or (asked.workload == "trainjob") == bool(asked.runtime):
        return
    message = (
        f"A {asked.workload} has no training runtime; it is {asked.runtime!r}."
        if asked.runtime
        else "A TrainJob needs the name of a ClusterTrainingRuntime."
    )
    yield ConfigError("kubernetes.runtime", message)


def volumes_are_told_apart(config: RunConfig) -> Iterator[ConfigError]:
    """Each volume has one source and a place of its own, outside of those that every pod has."""
    volumes = config.kubernetes.volumes if config.kubernetes else ()
    mounted = Counter(volume.mount_path.rstrip("/") for volume in volumes)
    for number, volume in enumerate(volumes):
        path, place = f"kubernetes.volumes.{number}", volume.mount_path.rstrip("/")
        if volume.claim and volume.host_path:
            yield ConfigError(path, "It names both a claim and a host path.", "Keep one of them.")
        if volume.size and (volume.claim or volume.host_path):
            yield ConfigError(f"{path}.size", "Only an empty directory takes a size.")
        if place in POD_FOLDERS or not place:
            yield ConfigError(f"{path}.mount_path", f"{volume.mount_path} is taken in every pod.")
        elif mounted[place] > 1:
            yield ConfigError(
                f"{path}.mount_path", f"{volume.mount_path} is mounted {mounted[place]} times."
            )


def variables_have_one_source(config: RunConfig) -> Iterator[ConfigError]:
    """A variable stands in `kubernetes.env` or in `kubernetes.secret_env`, not in both."""
    if config.kubernetes is not None:
        for name in sorted(config.kubernetes.env.keys() & config.kubernetes.secret_env.keys()):
            yield ConfigError(
                f"kubernetes.secret_env.{name}", f"{name} stands in kubernetes.env too."
            )


def _steps(path: str, message: str, hint: str) -> ConfigError:
    return ConfigError(path, message, hint, code=STEPS)


RULES: tuple[Callable[[RunConfig], Iterator[ConfigError]], ...] = (
    heads_divide_hidden,
    kv_heads_divide_heads,
    experts_belong_to_a_mixture,
    mix_sums_to_one,
    batch_divides,
    nodes_divide_devices,
    minimum_below_peak,
    warmup_fits,
    three_parts_have_a_decay,
    an_anchor_is_written,
    intervals_fit,
    the_section_belongs_to_its_launcher,
    workload_has_its_runtime,
    volumes_are_told_apart,
    variables_have_one_source,
)
