"""The typed fields of an experiment card (CARD-1), as far as its sums and agreements need them.

A card is filled in over days: nothing is required; 0 and "" say "not yet known".
"""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from safehold.config import parse_as
from safehold.config.base import Prose, Section, Text, as_tuple, describe
from safehold.planning.compute import ComputeEstimate, estimate
from safehold.planning.memory import MemoryLedger, MemoryPlan, ledger
from safehold.planning.network import Shape, parameter_count

TokenCount = Annotated[int, Field(ge=0, lt=2**63)]


class CardNetwork(Section):
    """The network that is meant."""

    architecture: Literal["dense", "moe"] = describe(
        "Architecture", "Dense, or a mixture of experts.", default="dense"
    )
    parameters: float = describe(
        "Parameters (N)",
        "In total; 0: derived from the shape.",
        unit="parameters",
        default=0.0,
        ge=0,
    )
    active_parameters: float = describe(
        "Active parameters", "Used for one token; 0: all.", unit="parameters", default=0.0, ge=0
    )
    layers: int = describe("Layers", "Transformer blocks.", unit="layers", default=0, ge=0)
    hidden: int = describe(
        "Hidden size", "Width of the residual stream.", unit="dimensions", default=0, ge=0
    )
    heads: int = describe("Heads", "Attention heads of a layer.", default=0, ge=0)
    ffn_multiple: float = describe(
        "FFN multiple", "Inner width over hidden size.", default=4.0, gt=0, le=64
    )
    vocabulary: int = describe(
        "Vocabulary", "Rows of the embedding.", unit="tokens", default=0, ge=0
    )
    sequence_length: int = describe(
        "Sequence length", "Tokens of a sample.", unit="tokens", default=0, ge=0
    )
    tied: bool = describe(
        "Tied embeddings", "Input and output embedding are one matrix.", default=True
    )


class CardData(Section):
    """The data that are meant."""

    tokens: TokenCount = describe("Tokens seen (D)", "Repeats included.", unit="tokens", default=0)
    unique_tokens: TokenCount = describe(
        "Unique tokens", "Repeats left out.", unit="tokens", default=0
    )
    domains: dict[Annotated[Text, Field(min_length=1, max_length=200)], TokenCount] = describe(
        "Tokens by domain", "Tokens of each domain.", unit="tokens", default_factory=dict
    )
    version: Text = describe("Data version", "Digest of the data.", default="", max_length=200)


class CardCompute(Section):
    """The devices that are meant."""

    accelerator: Text = describe("Accelerator", "Type of the device.", default="", max_length=120)
    devices: int = describe("Devices", "Working in parallel.", unit="devices", default=0, ge=0)
    peak_tflops_per_device: float = describe(
        "Peak per device", "At the training precision.", unit="TFLOP/s", default=0.0, ge=0
    )
    mfu: float = describe("MFU", "Share of the peak that is sustained.", default=0.4, gt=0, le=1)
    memory_gb_per_device: float = describe(
        "Memory per device", "In units of 1e9 bytes.", unit="GB", default=0.0, ge=0
    )
    budget_device_days: float = describe(
        "Budget", "What is granted.", unit="device-days", default=0.0, ge=0
    )


class Acceptance(Section):
    """One metric that decides."""

    metric: Text = describe("Metric", "Name of a logged evaluation.", min_length=1, max_length=250)
    split: Text = describe("Split", "Of the data.", default="validation", max_length=120)
    comparator: Literal["<=", "<", ">=", ">"] = describe(
        "Comparator", "Metric against threshold.", default="<="
    )
    threshold: float = describe("Threshold", "What must be reached.")


class CardFields(Section):
    """What `Card.data` holds."""

    task_form: Literal[
        "", "open_generation", "classification", "retrieval", "dialogue", "other"
    ] = describe("Task form", "What the network is to do.", default="")
    objective: Prose = describe("Objective", "In a sentence.", default="", max_length=2000)
    network: CardNetwork = describe(
        "Network", "The network that is meant.", default_factory=CardNetwork
    )
    data: CardData = describe("Data", "The data that are meant.", default_factory=CardData)
    compute: CardCompute = describe(
        "Compute", "The devices that are meant.", default_factory=CardCompute
    )
    acceptance: Annotated[tuple[Acceptance, ...], BeforeValidator(as_tuple)] = describe(
        "Acceptance metrics", "The card is accepted when all hold.", default=()
    )


def parse_card(document: Mapping[str, Any]) -> CardFields:
    """Read what a form or the API sent.

    Raises:
        ConfigInvalid: With every fault, by the path of its field.
    """
    return parse_as(CardFields, document)


def parameters_of(card: CardFields) -> float:
    """Return N: as given, else from the shape of a dense network, else 0."""
    network = card.network
    if network.parameters:
        return network.parameters
    if network.architecture == "moe" or not (
        network.layers and network.hidden and network.vocabulary
    ):
        return 0
    return parameter_count(
        Shape(layers=network.layers, hidden=network.hidden, vocabulary=network.vocabulary,
              ffn_multiple=network.ffn_multiple, tied=network.tied)
    )  # fmt: skip


def compute_of(card: CardFields) -> ComputeEstimate | None:
    """Return the compute estimate, or None while a number it needs is missing."""
    parameters = card.network.active_parameters or parameters_of(card)
    if not (parameters and card.data.tokens and card.compute.peak_tflops_per_device):
        return None
    return estimate(
        parameters=parameters,
        tokens=card.data.tokens,
        peak_tflops_per_device=card.compute.peak_tflops_per_device,
        mfu=card.compute.mfu,
        devices=card.compute.devices or 1,
    )


def memory_of(card: CardFields) -> MemoryLedger | None:
    """Return the ledger of a device that holds the network alone, at batch 1; None while N is unknown."""
    parameters = parameters_of(card)
    if not parameters:
        return None
    return ledger(
        MemoryPlan(
            parameters=parameters,
            layers=card.network.layers,
            hidden=card.network.hidden,
            sequence_length=card.network.sequence_length,
            capacity_bytes=card.compute.memory_gb_per_device * 1e9,
        )
    )


def missing_agreements(card: CardFields) -> list[str]:
    """Return which of the four agreements of CARD-3 are not filled in, by field."""
    filled = {
        "task_form": bool(card.task_form),
        "data.tokens": card.data.tokens > 0,
        "compute.devices": card.compute.devices > 0,
        "acceptance": bool(card.acceptance),
    }
    return [path for path, is_filled in filled.items() if not is_filled]
