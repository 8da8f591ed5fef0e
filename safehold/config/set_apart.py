"""Changes that are no variable of an experiment: names, places, how often is saved, fields without effect."""

from collections.abc import Callable
from typing import Any

from safehold.config.sides import Sides, Values

_LABEL = "A label; nothing is computed from it."
_SAVING = "How often and where the state is saved or logged changes nothing that is learnt."
_PLACE = "Where it runs; the updates are the same."

# Longest match counts; "" names a variable again below a table that is set apart.
_APART = {
    "name": _LABEL,
    "schema_version": _LABEL,
    "kind": "Whether it must be approved changes nothing that is learnt.",
    "checkpoint": _SAVING,
    "log": _SAVING,
    "train.eval_every": "How often is evaluated changes nothing that is learnt.",
    "compute": _PLACE,
    "kubernetes": _PLACE,
    "kubernetes.image": "",
    "kubernetes.env": "",
    "kubernetes.secret_env": "",
}
_MOVED = "The same content in another place: its digest did not change."
# Path -> the digest that says whether the content is the same.
_DIGESTS = {"data.path": "data.version", "tokenizer.path": "tokenizer.digest"}


def why_apart(path: str, sides: Sides) -> str:
    """Return why a change is no variable, or nothing where it may be one."""
    if path in _DIGESTS:
        old, new = sides.both(_DIGESTS[path])
        return _MOVED if old and old == new else ""
    if not has_effect(path, sides.old) and not has_effect(path, sides.new):
        return "It has no effect in either config."
    known = [prefix for prefix in _APART if path == prefix or path.startswith(f"{prefix}.")]
    return _APART[max(known, key=len)] if known else ""


def governor_of(path: str) -> str:
    """Return the field that decides whether this one has an effect; empty: it always has."""
    return _GOVERNED.get(path, ("",))[0]


def has_effect(path: str, values: Values) -> bool:
    """Whether a field does anything in a document, as far as another field decides it."""
    governed = _GOVERNED.get(path)
    return governed is None or governed[1](values(governed[0]))


_GOVERNED: dict[str, tuple[str, Callable[[Any], bool]]] = {
    "optimizer.min_lr": ("optimizer.schedule", lambda schedule: schedule != "constant"),
    "optimizer.decay_steps": ("optimizer.schedule", lambda schedule: schedule == "three_part"),
    "train.loss_scaling": ("train.precision", lambda precision: precision == "fp16"),
    "train.divide_loss": ("train.accumulation", lambda count: (count or 1) > 1),
    "train.clip_at": ("train.accumulation", lambda count: (count or 1) > 1),
}
