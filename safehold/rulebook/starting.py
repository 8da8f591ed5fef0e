"""What a new config begins with: usual values of its stage, moved into the spans that hold for its size and length."""

from collections.abc import Callable, Mapping
from typing import Any

from safehold.config import ConfigInvalid, RunConfig, parse
from safehold.rulebook.base import Rule
from safehold.rulebook.book import Rulebook
from safehold.rulebook.situation import Situation

# One value moves another span (the minimum follows the peak), so a second pass is needed, and never a fifth.
_PASSES = 4

# Inside the spans of CONF-5 for a small network; `within` moves them for another size or length.
_FINE_TUNE = {"betas": [0.9, 0.999], "weight_decay": 0.1}
_OF_STAGE: Mapping[str, Mapping[str, Any]] = {
    "pretrain": {"lr": 3e-4, "min_lr": 3e-5, "warmup_steps": 40, "betas": [0.9, 0.95]},
    "continued": {"lr": 1e-4, "min_lr": 1e-5, "warmup_steps": 40, "betas": [0.9, 0.95]},
    "sft": {"lr": 2e-5, "min_lr": 2e-6, "warmup_steps": 100, **_FINE_TUNE},
    "preference": {"lr": 1e-6, "min_lr": 1e-7, "warmup_steps": 150, **_FINE_TUNE},
}


def for_stage(document: Mapping[str, Any], stage: str, rulebook: Rulebook) -> dict[str, Any]:
    """Return a document of a stage with its usual optimizer values, within the rules."""
    optimizer = {**document.get("optimizer", {}), **_OF_STAGE[stage]}
    return within({**document, "stage": stage, "optimizer": optimizer}, rulebook)


def within(document: Mapping[str, Any], rulebook: Rulebook) -> dict[str, Any]:
    """Return the document with every value that a rule finds outside its span moved to the nearest end of it.

    What cannot be moved without breaking the config (a warmup longer than the run) stays as it is.
    """
    found = dict(document)
    for _ in range(_PASSES):
        before = found
        for family in rulebook.families:
            found = _moved(found, family.name, rulebook)
        if found == before:
            break
    return found


def _moved(document: dict[str, Any], family: str, rulebook: Rulebook) -> dict[str, Any]:
    config = _read(document)
    if config is None:
        return document
    for finding in rulebook.judge(family, Situation(config=config)):
        if finding.severity != "pass" and "rule" in finding.evidence:
            rule = rulebook.rule(finding.evidence["rule"])
            changed = _with(document, _move(config, rule, finding.evidence["value"]))
            document = changed if _read(changed) else document
    return document


def _read(document: Mapping[str, Any]) -> RunConfig | None:
    try:
        return parse(document)
    except ConfigInvalid:
        return None


def _move(config: RunConfig, rule: Rule, value: Any) -> dict[str, Any]:
    if rule.words and rule.quantity in _WORDS:
        return {
            _WORDS[rule.quantity]: True if rule.quantity == "divided loss" else rule.words[0],
        }
    nearest = rule.low if not rule.words and rule.side(value) == "below" else rule.high
    if rule.quantity not in _NUMBERS or nearest is None:
        return {}
    path, turned = _NUMBERS[rule.quantity]
    moved = {path: turned(config, nearest)}
    if path == "optimizer.lr":  # the minimum stays the same share of the peak
        optimizer = config.optimizer
        moved["optimizer.min_lr"] = _rounded(optimizer.min_lr / optimizer.lr * nearest)
    return moved


def _rounded(value: float) -> float:
    return float(f"{value:.7g}")


def _of_steps(config: RunConfig, share: float) -> int:
    return max(1, round(share * config.train.steps))


_NUMBERS: Mapping[str, tuple[str, Callable[[RunConfig, float], Any]]] = {
    "lr": ("optimizer.lr", lambda config, bound: _rounded(bound)),
    "minimum over peak": (
        "optimizer.min_lr",
        lambda config, bound: _rounded(bound * config.optimizer.lr),
    ),
    "warmup": ("optimizer.warmup_steps", lambda config, bound: round(bound)),
    "warmup share": ("optimizer.warmup_steps", _of_steps),
    "decay share": ("optimizer.decay_steps", _of_steps),
    "beta1": ("optimizer.betas", lambda config, bound: [bound, config.optimizer.betas[1]]),
    "beta2": ("optimizer.betas", lambda config, bound: [config.optimizer.betas[0], bound]),
    "weight decay": ("optimizer.weight_decay", lambda config, bound: bound),
    "clip": ("optimizer.clip", lambda config, bound: bound),
}
_WORDS = {
    "schedule": "optimizer.schedule", "state precision": "optimizer.state_precision", "precision": "train.precision",
    "loss scaling": "train.loss_scaling", "divided loss": "train.divide_loss", "clipping": "train.clip_at",
}  # fmt: skip


def _with(document: Mapping[str, Any], moves: Mapping[str, Any]) -> dict[str, Any]:
    found = dict(document)
    for path, value in moves.items():
        section, _dot, name = path.partition(".")
        found[section] = {**found[section], name: value}
    return found
