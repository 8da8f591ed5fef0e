"""The live column of a card: what follows from the numbers typed so far (CARD-2, CARD-5, PLAN-1 to 5)."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from runs import cluster_history
from runs.estimate_documents import forecast_document, memory_document
from runs.models import Card
from runs.services import agreements, base_fit, rulebook
from runs.stage_spans import Span, spans_of
from safehold import planning
from safehold.findings import Finding
from safehold.planning.advice import ROUTE, advice_for
from safehold.planning.card_sums import (
    active_parameters_of,
    data_parallel_of,
    epochs_of,
    global_batch_of,
    nodes_of,
    steps_of,
)
from safehold.planning.forecast import Forecast, forecast
from safehold.planning.stages import StageDefaults, defaults_of
from safehold.rulebook import Rulebook


@dataclass(frozen=True)
class Slice:
    """One part of the memory of a device; `offset` and `width` are shares of the bar, 0 to 100."""

    name: str | Promise
    bytes: float
    offset: float
    width: float


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """Everything the column shows; None where a number is missing."""

    parameters: float
    active_parameters: float
    compute: planning.ComputeEstimate | None
    memory: planning.MemoryLedger | None
    slices: tuple[Slice, ...]
    capacity_at: float | None
    spread: Mapping[str, int]
    starting_loss: float | None
    tokens_per_parameter: float | None
    epochs: float | None
    forecast: Forecast | None
    stage: StageDefaults
    spans: tuple[Span, ...]
    advice: tuple[Finding, ...]
    missing: tuple[Promise, ...]
    agreements: tuple[tuple[Promise, bool], ...]
    lacks_base: str

    def to_dict(self) -> dict[str, Any]:
        """Return the sums as JSON values."""
        return {
            "parameters": self.parameters,
            "active_parameters": self.active_parameters,
            "compute": asdict(self.compute) if self.compute else None,
            "memory": memory_document(self.memory) if self.memory else None,
            **self.spread,
            "starting_loss": self.starting_loss,
            "tokens_per_parameter": self.tokens_per_parameter,
            "epochs": self.epochs,
            "forecast": forecast_document(self.forecast) if self.forecast else None,
            "stage_defaults": {
                "data_form": self.stage.data_form,
                "converged": self.stage.converged,
                "fields": dict(self.stage.fields),
            },
            "spans": [asdict(one) for one in self.spans],
            "advice": [one.to_dict() for one in self.advice],
        }


_AGREEMENTS = {
    "task_form": _("Task form"),
    "data.tokens": _("Usable tokens"),
    "compute.devices": _("Compute"),
    "acceptance": _("Acceptance metrics"),
}


def of_card(
    card: planning.CardFields,
    stage: str = "pretrain",
    book: Rulebook | None = None,
    *,
    is_pilot: bool = False,
) -> Estimate:
    """Return what the fields of a card come to; the history of its cluster is asked of the database.

    Args:
        card: As far as it is filled in.
        stage: Of the card.
        book: The rulebook in force; default: as it is written.
        is_pilot: Whether pretraining pays was asked of the card it was made from.
    """
    parameters = planning.parameters_of(card)
    memory = planning.memory_of(card)
    open_agreements = planning.missing_agreements(card)
    slices, capacity_at = _bar(memory)
    tokens, vocabulary = card.data.tokens, card.network.vocabulary
    return Estimate(
        parameters=parameters,
        active_parameters=active_parameters_of(card),
        compute=planning.compute_of(card),
        memory=memory,
        slices=slices,
        capacity_at=capacity_at,
        spread={
            "data_parallel": data_parallel_of(card), "nodes": nodes_of(card),
            "global_batch": global_batch_of(card),
            "tokens_per_step": global_batch_of(card) * card.network.sequence_length,
        },
        starting_loss=planning.starting_loss(vocabulary) if vocabulary > 1 else None,
        tokens_per_parameter=tokens / parameters if parameters and tokens else None,
        epochs=epochs_of(card),
        forecast=forecast(card, cluster_history.history_of(card.compute.cluster)),
        stage=defaults_of(stage),
        spans=tuple(spans_of(stage, parameters, steps_of(card), book)),
        advice=tuple(one for one in advice_for(card, stage) if not (is_pilot and one.code == ROUTE)),
        missing=_missing(card, parameters),
        agreements=tuple((word, path not in open_agreements) for path, word in _AGREEMENTS.items()),
        lacks_base=agreements.words_of("base_checkpoint") if defaults_of(stage).needs_base and not card.base_checkpoint else "",
    )  # fmt: skip


def of_kept(card: Card) -> Estimate:
    """Return what a kept card comes to, in its project."""
    fields = planning.read_kept(card.data)
    return in_project(fields, card.stage, card.project_id, is_pilot=bool(card.pilot))


def in_project(
    card: planning.CardFields, stage: str, project_id: int, *, is_pilot: bool = False
) -> Estimate:
    """Return what a card comes to under the rulebook of a project, held against the base that it goes on from."""
    found = of_card(card, stage, rulebook.in_force(project_id), is_pilot=is_pilot)
    unlike = base_fit.unlike_card(card, project_id=project_id)
    return replace(found, advice=(*unlike, *found.advice))


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
        *([(_("Cast copies"), memory.casts_bytes)] if memory.casts_bytes else []),
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
