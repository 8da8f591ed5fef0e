"""Write pairs.jsonl: 300 pairs of configs with what differs and how many variables that is.

python -m tests.cases.config_pairs.make

240 pairs are made: one to four edits out of `EDITS`, drawn with a fixed seed, each on fields of its own. An edit is
labelled by whoever wrote it, here, by hand: which fields it touches and whether it is a variable. The label of a pair
is the sum of those of its edits; nothing is asked of the code under test. Edits of one `knot` are never drawn together,
since one of them would change what the other means. 60 pairs are written by hand in `tricky.py`.
"""

import json
import random
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.cases.config_pairs.base import BASE
from tests.cases.config_pairs.tricky import TRICKY

PAIRS = Path(__file__).parent / "pairs.jsonl"
NUM_MADE = 240
SEED = 20_250


@dataclass(frozen=True)
class Edit:
    """What a person does to a config.

    Attributes:
        name: In words.
        changes: Path -> new value.
        num_variables: How many variables of the experiment that changes.
        knots: Edits that share one are not drawn together.
    """

    name: str
    changes: dict[str, Any]
    num_variables: int
    knots: frozenset[str] = field(default_factory=frozenset)


def edit(how: str, num_variables: int, knots: str, /, **changes: Any) -> Edit:
    """Return an edit; `__` stands for the dot of a path."""
    paths = {path.replace("__", "."): value for path, value in changes.items()}
    return Edit(how, paths, num_variables, frozenset(knots.split()))


EDITS = (
    # Variables, one field each.
    edit("another peak, the end left", 1, "rate", optimizer__lr=2e-4),
    edit("another end, the peak left", 1, "rate", optimizer__min_lr=2e-5),
    edit("longer warmup", 1, "warmup", optimizer__warmup_steps=1500),
    edit("no decay of weights", 1, "", optimizer__weight_decay=0.01),
    edit("another clip", 1, "", optimizer__clip=0.5),
    edit("another epsilon", 1, "", optimizer__eps=1e-6),
    edit("another β2", 1, "betas", optimizer__betas=[0.9, 0.99]),
    edit("another β1", 1, "betas", optimizer__betas=[0.85, 0.95]),
    edit("16-bit states", 1, "", optimizer__state_precision="bf16"),
    edit("another seed", 1, "", train__seed=7),
    edit("linear schedule", 1, "schedule", optimizer__schedule="linear"),
    edit("adapters", 1, "", train__method="lora"),
    edit("another stage", 1, "", stage="continued"),
    edit("single precision", 1, "precision", train__precision="fp32"),
    edit("more layers", 1, "", network__layers=16),
    edit("another head count", 1, "width", network__heads=8),
    edit("wider feed-forward", 1, "", network__ffn_multiple=3.5),
    edit("untied", 1, "", network__tied=False),
    edit("larger vocabulary alone", 1, "tokens", network__vocabulary=50432),
    edit("other command", 1, "", code__command=["train.py", "--fast"]),
    edit("other image", 1, "", kubernetes__image="trainer@sha256:" + "b" * 64),
    edit("a variable for the program", 1, "env", kubernetes__env={"NCCL_DEBUG": "WARN", "MODE": "b"}),
    edit("other shares", 1, "", data__mix={"web": 0.6, "code": 0.3, "books": 0.1}),
    edit("a domain less", 1, "mix", data__mix={"web": 0.75, "code": 0.25}),
    edit("other validation data", 1, "data", data__validation_path="/data/other-val"),
    edit("larger batch alone", 1, "batch length warmup", train__global_batch=512),
    edit("more portions alone", 1, "batch place", train__accumulation=2),
    # One knob, and what has to turn with it.
    edit("another peak with its end", 1, "rate", optimizer__lr=6e-4, optimizer__min_lr=6e-5),
    edit("larger batch in more portions", 1, "batch length warmup place", train__global_batch=512, train__accumulation=2),
    edit("larger batch, as many tokens", 1, "batch length warmup", train__global_batch=512, train__steps=10_000,
         optimizer__warmup_steps=500),
    edit("longer, warmup at its share", 1, "length warmup batch schedule", train__steps=40_000, optimizer__warmup_steps=2000),
    edit("longer, warmup left", 1, "length warmup batch schedule", train__steps=30_000),
    edit("wider at the same heads' width", 1, "width", network__hidden=1024, network__heads=16),
    edit("longer sequences, as many tokens an update", 1, "batch length warmup", network__sequence_length=2048,
         train__global_batch=128),
    edit("no schedule, and no end", 1, "schedule rate", optimizer__schedule="constant", optimizer__min_lr=0.0),
    edit("three parts", 1, "schedule warmup length", optimizer__schedule="three_part", optimizer__decay_steps=4000,
         optimizer__warmup_steps=4000),
    edit("half precision with its scaling", 1, "precision", train__precision="fp16", train__loss_scaling="static"),
    edit("other data, elsewhere", 1, "data", data__version="blake3:" + "2" * 64, data__path="/data/two"),
    edit("other data with their validation", 1, "data", data__version="blake3:" + "3" * 64, data__path="/data/three",
         data__validation_path="/data/three-val"),
    edit("other tokenizer with its vocabulary", 1, "tokens", tokenizer__digest="blake3:" + "4" * 64,
         tokenizer__path="/data/two/tokenizer.json", network__vocabulary=32_000),
    # No variable.
    edit("another name", 0, "", name="renamed"),
    edit("to be approved", 0, "", kind="production"),
    edit("saved more often", 0, "", checkpoint__anchor_every_steps=250, checkpoint__keep_anchors=5),
    edit("saved elsewhere", 0, "", checkpoint__root="/other/checkpoints"),
    edit("logged less often", 0, "", log__every=10),
    edit("evaluated more often", 0, "", train__eval_every=100),
    edit("fewer devices in more portions", 0, "batch place", compute__devices=4, train__accumulation=2),
    edit("more nodes", 0, "place", compute__nodes=2),
    edit("known peak", 0, "", compute__peak_tflops_per_device=989.0),
    edit("the data moved", 0, "data", data__path="/mnt/data/one"),
    edit("the tokenizer moved", 0, "tokens", tokenizer__path="/mnt/data/one/tokenizer.json"),
    edit("scaling that nothing uses", 0, "precision", train__loss_scaling="none"),
    edit("more memory for the pods", 0, "", kubernetes__memory="96Gi", kubernetes__cpu="16"),
    edit("another queue", 0, "", kubernetes__queue="research"),
)  # fmt: skip


def made() -> list[dict[str, Any]]:
    """Return the made pairs; the same at every call."""
    chance = random.Random(SEED)
    pairs: list[dict[str, Any]] = [_pair([one]) for one in EDITS]
    seen = {frozenset([one.name]) for one in EDITS}
    while len(pairs) < NUM_MADE:
        several = _drawn(chance, chance.choice([1, 2, 2, 3, 4]))
        key = frozenset(one.name for one in several)
        if key not in seen:
            seen.add(key)
            pairs.append(_pair(several))
    return pairs


def _drawn(chance: random.Random, num: int) -> list[Edit]:
    several: list[Edit] = []
    for one in chance.sample(EDITS, len(EDITS)):
        used = {path for other in several for path in other.changes}
        is_apart = not any(one.knots & other.knots for other in several)
        if len(several) < num and is_apart and not used & one.changes.keys():
            several.append(one)
    return several


def _pair(several: list[Edit]) -> dict[str, Any]:
    changes = {path: value for one in several for path, value in one.changes.items()}
    return {
        "how": "; ".join(one.name for one in several),
        "old": {},
        "new": changes,
        "fields": sorted(_fields(changes)),
        "num_variables": sum(one.num_variables for one in several),
    }


def _fields(changes: dict[str, Any]) -> set[str]:
    """Return the fields that a pair differs in: tables entry by entry, all else as it was edited."""
    found: set[str] = set()
    for path, value in changes.items():
        if isinstance(value, dict):
            before = _value(path) or {}
            found |= {
                f"{path}.{key}"
                for key in value.keys() | before.keys()
                if value.get(key) != before.get(key)
            }
        else:
            found.add(path)
    return found


def _value(path: str) -> Any:
    value: Any = BASE
    for name in path.split("."):
        value = value.get(name) if isinstance(value, dict) else None
    return value


def main() -> None:
    """Write the file."""
    lines = [json.dumps(pair, ensure_ascii=False) for pair in [*made(), *TRICKY]]
    PAIRS.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
