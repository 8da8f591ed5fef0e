"""The live column of a card: what follows from the numbers typed so far (CARD-2, PLAN-1, PLAN-4)."""

from dataclasses import dataclass

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from safehold import planning


@dataclass(frozen=True)
class Slice:
    """One part of the memory of a device; `offset` and `width` are shares of the bar, 0 to 100."""

    name: str | Promise
    bytes: float
    offset: float
    width: float


@dataclass(frozen=True)
class Estimate:
    """Everything the column shows; None where a number is missing."""

    parameters: float
    compute: planning.ComputeEstimate | None
    memory: planning.MemoryLedger | None
    slices: tuple[Slice, ...]
    capacity_at: float | None
    starting_loss: float | None
    tokens_per_parameter: float | None
    missing: tuple[Promise, ...]
    agreements: tuple[tuple[Promise, bool], ...]


_AGREEMENTS = {
    "task_form": _("Task form"),
    "data.tokens": _("Usable tokens"),
    "compute.devices": _("Compute"),
    "acceptance": _("Acceptance metrics"),
}
# Chinchilla's rule of thumb, Hoffmann et al. 2022, arXiv 2203.15556; CARD-5 advises below it.
TOKENS_PER_PARAMETER = 20


def of_card(card: planning.CardFields) -> Estimate:
    """Return what the fields of a card come to."""
    parameters = planning.parameters_of(card)
    memory = planning.memory_of(card)
    open_agreements = planning.missing_agreements(card)
    slices, capacity_at = _bar(memory)
    return Estimate(
        parameters=parameters,
        compute=planning.compute_of(card),
        memory=memory,
        slices=slices,
        capacity_at=capacity_at,
        starting_loss=planning.starting_loss(card.network.vocabulary)
        if card.network.vocabulary > 1
        else None,
        tokens_per_parameter=card.data.tokens / parameters
        if parameters and card.data.tokens
        else None,
        missing=_missing(card, parameters),
        agreements=tuple((word, path not in open_agreements) for path, word in _AGREEMENTS.items()),
    )


def _missing(card: planning.CardFields, parameters: float) -> tuple[Promise, ...]:
    needs = (
        (parameters, _("parameters, or layers, hidden size and vocabulary")),
        (card.data.tokens, _("tokens seen")),
        (card.compute.peak_tflops_per_device, _("peak per device")),
    )
    return tuple(word for value, word in needs if not value)


def _bar(memory: planning.MemoryLedger | None) -> tuple[tuple[Slice, ...], float | None]:
    if memory is None:
        return (), None
    parts = (
        (_("Weights"), memory.weights_bytes),
        (_("Gradients"), memory.gradients_bytes),
        (_("Moments"), memory.moments_bytes),
        (_("Master copy"), memory.master_bytes),
        (_("Activations"), memory.activations_bytes),
    )
    whole = max(memory.total_bytes, memory.capacity_bytes) or 1
    slices, offset = [], 0.0
    for name, size in parts:
        width = 100 * size / whole
        slices.append(Slice(name, size, round(offset, 3), round(width, 3)))
        offset += width
    return tuple(slices), round(
        100 * memory.capacity_bytes / whole, 3
    ) if memory.capacity_bytes else None
