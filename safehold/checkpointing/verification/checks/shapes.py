"""Do the tensors fit the manifest, and the moments the weights?"""

from __future__ import annotations

from collections.abc import Iterator

from safehold.checkpointing.formats.base import Span
from safehold.checkpointing.verification.base import check
from safehold.checkpointing.verification.facts import Facts
from safehold.findings import Finding, fail
from safehold.manifest import Component, Manifest, TensorEntry

# State with one value for each weight: torch.optim's Adam family, SGD, RMSprop, Lion.
_LIKE_THE_WEIGHT = {
    "exp_avg", "exp_avg_sq", "max_exp_avg_sq", "momentum_buffer", "square_avg", "grad_avg",
}  # fmt: skip


@check("CKPT-5.shapes")
def shapes(facts: Facts) -> Iterator[Finding]:
    """Every tensor has the stated shape, and every moment belongs to a weight of its shape."""
    if facts.manifest is None:
        return
    for name, component in facts.manifest.components.items():
        yield from _as_stated(facts, name, component)
    yield from _moments(facts, facts.manifest)


def _as_stated(facts: Facts, name: str, component: Component) -> Iterator[Finding]:
    if not component.tensors or any(facts.files[path].contents is None for path in component.files):
        return
    found = {TensorEntry(s.name, s.shape, s.dtype) for s in _spans(facts, component)}
    stated = set(component.tensors)
    for entry in sorted(stated ^ found, key=lambda item: item.name)[:20]:
        words = "the manifest states and the file lacks" if entry in stated else "nobody stated"
        yield fail(
            f"The {name} has a tensor that {words}: {entry.name} {list(entry.shape)} {entry.dtype}.",
            evidence={"component": name, "tensor": entry.name, "shape": list(entry.shape)},
            advice="File and manifest are not of one save. Resume from another checkpoint.",
        )


def _moments(facts: Facts, manifest: Manifest) -> Iterator[Finding]:
    if not {"model", "optimizer"} <= set(manifest.components):
        return
    weights = {span.name: span.shape for span in _spans(facts, manifest.components["model"])}
    for span in _spans(facts, manifest.components["optimizer"]):
        kind, slash, name = span.name.partition("/")
        if not weights or not slash:
            continue
        if name not in weights:
            yield _misfit(span, f"the model has no weight {name}")
        elif kind in _LIKE_THE_WEIGHT and span.shape != weights[name]:
            yield _misfit(span, f"the weight has shape {list(weights[name])}")


def _misfit(span: Span, reason: str) -> Finding:
    return fail(
        f"The optimizer's {span.name} has shape {list(span.shape)}, but {reason}.",
        evidence={"tensor": span.name, "shape": list(span.shape)},
        advice="Optimizer and model are not of one training. Resume from another checkpoint.",
    )


def _spans(facts: Facts, component: Component) -> list[Span]:
    contents = [facts.files[path].contents for path in component.files]
    return [span for item in contents if item for span in item.spans]
