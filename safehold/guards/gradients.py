"""Norms of the gradients by part of the network, clipping, and the step that must not be applied.

The guard looks at raw values, before any logger averages or filters them.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

# Usual names of parameters: GPT-2, Llama, Qwen, Mixtral, torchtitan, our reference trainer.
GROUPS: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("embedding", re.compile(r"embed|wte|wpe|lm_head|tok_|pos_", re.IGNORECASE)),
    ("attention", re.compile(r"attn|attention|qkv|[qkvo]_proj|\bw[qkvo]\b", re.IGNORECASE)),
    ("ffn", re.compile(r"mlp|ffn|feed_?forward|expert|gate_proj|up_proj|down_proj", re.IGNORECASE)),
)
OTHER = "other"


@dataclass(frozen=True, slots=True)
class GradientReport:
    """What the guard saw after one backward pass.

    Attributes:
        norms: L2 norms before clipping: `global`, `embedding`, `attention`, `ffn`, `other`.
        loss: The raw loss, NaN where none was given.
        finite: Loss and all gradients are finite.
        clipped: The gradients were scaled down.
    """

    norms: dict[str, float]
    loss: float
    finite: bool
    clipped: bool

    def values(self) -> dict[str, float]:
        """Return the report as metrics."""
        made = {f"grad_norm/{name}": norm for name, norm in self.norms.items()}
        return made | {"grad/clipped": float(self.clipped), "grad/skipped": float(not self.finite)}


class GradientGuard:
    """Judges every backward pass.

    A step that is not finite is not applied: its gradients are dropped, so the optimizer skips every
    parameter. All ranks see the same reduced gradients (DDP) and so do the same.

    Args:
        clip: Largest global norm; 0 = never clip.
        on_report: Gets every report.
        skip: Drop gradients that are not finite.
    """

    def __init__(
        self, *, clip: float, on_report: Callable[[GradientReport], None], skip: bool = True
    ) -> None:
        self._clip = clip
        self._on_report = on_report
        self._skip = skip
        self._groups: list[tuple[str, list[nn.Parameter]]] = []
        self._network: nn.Module | None = None

    def after_backward(
        self, model: nn.Module, loss: Tensor | float | None = None
    ) -> GradientReport:
        """Measure, clip and judge the gradients; call it after the last backward pass of a step.

        One host sync: norms and loss come over together. With a loss scaler, unscale first.

        Args:
            model: The network, as wrapped as it is; gradients of any shape on one device.
            loss: Shape `()`; raw.
        """
        if model is not self._network:
            self._network, self._groups = model, _grouped(model)
        groups = [(name, [p.grad for p in ps if p.grad is not None]) for name, ps in self._groups]
        groups = [(name, grads) for name, grads in groups if grads]
        norms, raw_loss = _to_host([_norm(grads) for _, grads in groups], loss)
        total = math.sqrt(sum(norm * norm for norm in norms))
        finite = math.isfinite(total) and (loss is None or math.isfinite(raw_loss))
        clipped = finite and 0 < self._clip < total
        if clipped:
            for _, grads in groups:
                torch._foreach_mul_(grads, self._clip / (total + 1e-6))
        elif not finite and self._skip:
            model.zero_grad(set_to_none=True)
        named = dict(zip((name for name, _ in groups), norms, strict=True))
        report = GradientReport({"global": total} | named, raw_loss, finite, clipped)
        self._on_report(report)
        return report


def _grouped(model: nn.Module) -> list[tuple[str, list[nn.Parameter]]]:
    groups: dict[str, list[nn.Parameter]] = {}
    for name, parameter in model.named_parameters():
        group = next((group for group, known in GROUPS if known.search(name)), OTHER)
        groups.setdefault(group, []).append(parameter)
    return list(groups.items())


def _norm(grads: Sequence[Tensor]) -> Tensor:
    norms: list[Any] = list(torch._foreach_norm(list(grads)))
    # Sharded gradients (FSDP2) give sharded norms; this gathers them, on every rank alike.
    whole = [norm.full_tensor() if hasattr(norm, "full_tensor") else norm for norm in norms]
    total: Tensor = torch.linalg.vector_norm(torch.stack([norm.float() for norm in whole]))
    return total


def _to_host(norms: Sequence[Tensor], loss: Tensor | float | None) -> tuple[list[float], float]:
    if not isinstance(loss, Tensor):
        read: list[float] = torch.stack(list(norms)).tolist() if norms else []
        return read, math.nan if loss is None else float(loss)
    together = [*norms, loss.detach().float().reshape(()).to(norms[0].device if norms else "cpu")]
    values: list[float] = torch.stack(together).tolist()
    return values[:-1], values[-1]
