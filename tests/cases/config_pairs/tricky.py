"""Sixty pairs labelled by hand: what is easily counted wrongly, each with the reason for its label.

`old` and `new` are changes of the base config, by path; None leaves a field out.
"""

from typing import Any


def pair(
    how: str,
    num_variables: int,
    fields: str,
    new: dict[str, Any],
    old: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """Return one pair; `fields` are those that differ, with spaces."""
    return {
        "how": how,
        "old": old or {},
        "new": new,
        "fields": sorted(fields.split()),
        "num_variables": num_variables,
    }


LR, MIN, WARM = "optimizer.lr", "optimizer.min_lr", "optimizer.warmup_steps"
BATCH, ACC, STEPS = "train.global_batch", "train.accumulation", "train.steps"
DEV, SEQ, SCHED = "compute.devices", "network.sequence_length", "optimizer.schedule"
DECAY, PREC, SCALE = "optimizer.decay_steps", "train.precision", "train.loss_scaling"
HID, HEADS, LAYERS = "network.hidden", "network.heads", "network.layers"
VOCAB, DIGEST, TOK = "network.vocabulary", "tokenizer.digest", "tokenizer.path"
DATA, VERSION, VAL = "data.path", "data.version", "data.validation_path"
LAUNCHER, NODES, BETAS = "compute.launcher", "compute.nodes", "optimizer.betas"
LOCAL: dict[str, Any] = {LAUNCHER: "local", "kubernetes": None}
OTHER = "blake3:" + "9" * 64

TRICKY: list[dict[str, Any]] = [
    # The same document.
    pair("nothing", 0, "", {}),
    pair("a whole float written as an integer", 0, "", {"optimizer.clip": 1}),
    pair("a default written out", 0, "", {"optimizer.weight_decay": 0.1, "log.every": 1}),
    pair("the same list", 0, "", {BETAS: [0.9, 0.95]}),
    # Rate.
    pair("rate and batch: the linear rule is a choice, not a consequence", 2, f"{BATCH} {LR} {MIN}",
         {BATCH: 512, LR: 6e-4, MIN: 6e-5}),
    pair("rate and batch by the root, the end along with the rate", 2, f"{BATCH} {LR} {MIN}",
         {BATCH: 512, LR: 4.2426e-4, MIN: 4.2426e-5}),
    pair("peak and end turned apart", 2, f"{LR} {MIN}", {LR: 6e-4, MIN: 1e-5}),
    pair("an end where there was none", 2, f"{LR} {MIN}", {LR: 6e-4, MIN: 6e-5}, {MIN: 0.0}),
    pair("the peak alone, with no end on either side", 1, LR, {LR: 6e-4, MIN: 0.0}, {MIN: 0.0}),
    pair("peak with its end, rounded", 1, f"{LR} {MIN}", {LR: 2.5e-4, MIN: 2.5e-5}),
    pair("three seeds at once are still one", 1, "train.seed", {"train.seed": 99}),
    # Batch, portions, devices.
    pair("batch and portions: one knob", 1, f"{BATCH} {ACC}", {BATCH: 1024, ACC: 4}),
    pair("batch halved from portions", 1, f"{BATCH} {ACC}", {BATCH: 256, ACC: 1}, {BATCH: 512, ACC: 2}),
    pair("batch and devices, portions as before", 1, f"{BATCH} {DEV}", {BATCH: 512, DEV: 16}),
    pair("devices alone", 0, DEV, {DEV: 16}),
    pair("devices and nodes", 0, f"{DEV} {NODES}", {DEV: 16, NODES: 2}),
    pair("twice the devices, half the portions", 0, f"{DEV} {ACC}", {DEV: 16, ACC: 1}, {ACC: 2}),
    pair("devices and portions, not in proportion", 1, f"{DEV} {ACC}", {DEV: 16, ACC: 4}),
    pair("batch, portions and devices", 1, f"{BATCH} {ACC} {DEV}", {BATCH: 512, ACC: 4, DEV: 4}),
    # Length.
    pair("twice the batch, half the steps and warmup", 1, f"{BATCH} {STEPS} {WARM}",
         {BATCH: 512, STEPS: 10_000, WARM: 500}),
    pair("twice the batch, half the steps, warmup in updates left", 2, f"{BATCH} {STEPS} {WARM}",
         {BATCH: 512, STEPS: 10_000, WARM: 700}),
    pair("twice the batch, half the steps, warmup untouched", 1, f"{BATCH} {STEPS}", {BATCH: 512, STEPS: 10_000}),
    pair("twice the batch and a shorter run by choice", 2, f"{BATCH} {STEPS}", {BATCH: 512, STEPS: 15_000}),
    pair("a third of the batch more, steps rounded", 1, f"{BATCH} {STEPS}", {BATCH: 344, STEPS: 14_884}),
    pair("longer with the same share of warmup", 1, f"{STEPS} {WARM}", {STEPS: 60_000, WARM: 3000}),
    pair("longer with another share of warmup", 2, f"{STEPS} {WARM}", {STEPS: 60_000, WARM: 1500}),
    pair("shorter, saved and evaluated accordingly", 1,
         f"{STEPS} {WARM} checkpoint.anchor_every_steps train.eval_every",
         {STEPS: 2000, WARM: 100, "checkpoint.anchor_every_steps": 50, "train.eval_every": 50}),
    pair("longer sequences, fewer in a batch", 1, f"{SEQ} {BATCH}", {SEQ: 4096, BATCH: 64}),
    pair("longer sequences, the batch left", 1, SEQ, {SEQ: 2048}),
    pair("longer sequences, half the steps", 1, f"{SEQ} {STEPS} {WARM}", {SEQ: 2048, STEPS: 10_000, WARM: 500}),
    pair("longer sequences and a larger batch", 2, f"{SEQ} {BATCH}", {SEQ: 2048, BATCH: 512}),
    # Schedule.
    pair("constant: its end has no effect any more", 1, f"{SCHED} {MIN}", {SCHED: "constant", MIN: 0.0}),
    pair("an end without effect on either side", 0, MIN, {SCHED: "constant", MIN: 0.0}, {SCHED: "constant"}),
    pair("three parts with their decay", 1, f"{SCHED} {DECAY}", {SCHED: "three_part", DECAY: 4000}),
    pair("three parts with their decay and warmup", 1, f"{SCHED} {DECAY} {WARM}",
         {SCHED: "three_part", DECAY: 4000, WARM: 4000}),
    pair("back from three parts", 1, f"{SCHED} {DECAY}", {}, {SCHED: "three_part", DECAY: 4000}),
    pair("the decay of three parts alone", 1, DECAY, {SCHED: "three_part", DECAY: 2000},
         {SCHED: "three_part", DECAY: 4000}),
    pair("longer in three parts, each at its share", 1, f"{STEPS} {DECAY} {WARM}",
         {SCHED: "three_part", STEPS: 40_000, DECAY: 8000, WARM: 8000}, {SCHED: "three_part", DECAY: 4000, WARM: 4000}),
    pair("schedule and rate", 2, f"{SCHED} {LR}", {SCHED: "linear", LR: 2e-4}),
    # Optimizer.
    pair("both betas are two", 2, BETAS, {BETAS: [0.85, 0.99]}),
    pair("β2 and the clip", 2, f"{BETAS} optimizer.clip", {BETAS: [0.9, 0.99], "optimizer.clip": 0.5}),
    # Precision.
    pair("half precision, scaling as before", 1, PREC, {PREC: "fp16"}),
    pair("scaling of half precision alone", 1, SCALE, {PREC: "fp16", SCALE: "static"}, {PREC: "fp16"}),
    pair("from half precision and its scaling", 1, f"{PREC} {SCALE}", {}, {PREC: "fp16", SCALE: "static"}),
    # Portions that matter only when there are several.
    pair("division declared where nothing is added up", 0, "train.divide_loss", {"train.divide_loss": False}),
    pair("division declared where portions are added up", 1, "train.divide_loss",
         {"train.divide_loss": False, ACC: 2}, {ACC: 2}),
    # Shape.
    pair("wider with wider heads", 1, HID, {HID: 1536}),
    pair("wider and deeper", 2, f"{HID} {HEADS} {LAYERS}", {HID: 1024, HEADS: 16, LAYERS: 24}),
    pair("wider, with heads of another width", 2, f"{HID} {HEADS}", {HID: 1024, HEADS: 8}),
    # Tokenizer and data.
    pair("another tokenizer over the same rows", 1, f"{DIGEST} {TOK}", {DIGEST: OTHER, TOK: "/data/two/tokenizer.json"}),
    pair("another tokenizer and other data", 2, f"{DIGEST} {TOK} {VOCAB} {DATA} {VERSION}",
         {DIGEST: OTHER, TOK: "/data/two/tokenizer.json", VOCAB: 32_000, DATA: "/data/two", VERSION: OTHER}),
    pair("unlocked data elsewhere: they may be others", 1, DATA, {DATA: "/data/two", VERSION: ""}, {VERSION: ""}),
    pair("data and shares", 2, f"{DATA} {VERSION} data.mix.web data.mix.code",
         {DATA: "/data/two", VERSION: OTHER, "data.mix": {"web": 0.6, "code": 0.3, "books": 0.1}}),
    pair("moved with everything else", 0, f"{DATA} {TOK} checkpoint.root",
         {DATA: "/mnt/one", TOK: "/mnt/one/tokenizer.json", "checkpoint.root": "/mnt/checkpoints"}),
    # Place.
    pair("from this machine to a cluster", 0,
         f"{LAUNCHER} kubernetes.image kubernetes.memory kubernetes.env.NCCL_DEBUG kubernetes.volumes", {}, LOCAL),
    pair("to a cluster with another seed", 1,
         f"{LAUNCHER} kubernetes.image kubernetes.memory kubernetes.env.NCCL_DEBUG kubernetes.volumes train.seed",
         {"train.seed": 7}, LOCAL),
    pair("image and command: new code twice", 2, "kubernetes.image code.command",
         {"kubernetes.image": "trainer@sha256:" + "c" * 64, "code.command": ["train.py"]}),
    pair("two variables of the environment are one table", 1, "kubernetes.env.A kubernetes.env.B",
         {"kubernetes.env": {"NCCL_DEBUG": "WARN", "A": "1", "B": "2"}}),
    # Labels beside a variable.
    pair("promoted and renamed", 0, "name kind", {"name": "final", "kind": "production"}),
    pair("renamed, saved elsewhere, another seed", 1, "name checkpoint.root train.seed",
         {"name": "again", "checkpoint.root": "/c2", "train.seed": 5}),
]  # fmt: skip
