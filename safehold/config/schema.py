"""The run config: a typed document, named by the digest of its canonical form."""

from typing import Annotated, Any, Literal

from pydantic import Field, SerializerFunctionWrapHandler, model_serializer, model_validator

from safehold.config.base import Section, Text, describe
from safehold.config.kubernetes import Kubernetes
from safehold.config.sections import Code, Compute, Data, Network, Tokenizer
from safehold.config.training import Checkpoint, Log, Optimizer, Train

SCHEMA_VERSION = 1

Name = Annotated[Text, Field(min_length=1, max_length=200)]


class RunConfig(Section):
    """All settings of a run. Read it with `safehold.config.parse`, which applies the rules over several fields too."""

    schema_version: Literal[1] = describe(
        "Schema version", "Of this document.", default=SCHEMA_VERSION
    )
    name: Name = describe(
        "Name", "What people call it; any text without control characters.", example="small-gpt"
    )
    kind: Literal["experiment", "production"] = describe(
        "Kind",
        "Experiment: anything may vary. Production: frozen and approved.",
        default="experiment",
    )
    stage: Literal["pretrain", "continued", "sft", "preference"] = describe(
        "Stage", "Stage of training.", default="pretrain"
    )
    network: Network = describe("Network", "Shape of the network that is trained.")
    data: Data = describe("Data", "What it is trained on.")
    tokenizer: Tokenizer = describe("Tokenizer", "The tokenizer and the digest that locks it.")
    train: Train = describe("Training", "How long, in what portions, from which seed.")
    optimizer: Optimizer = describe("Optimizer", "Optimizer and learning-rate schedule.")
    checkpoint: Checkpoint = describe("Checkpoints", "Where and how often the state is saved.")
    log: Log = describe("Logging", "How often metrics are logged.", default_factory=Log)
    compute: Compute = describe("Compute", "Where it runs.", default_factory=Compute)
    code: Code = describe("Code", "What is started.", default_factory=Code)
    # Only documents of that launcher have it: those of others are what they were before it came.
    kubernetes: Kubernetes | None = describe(
        "Kubernetes",
        "Where and how the pods are made; with the launcher `kubernetes`, and only then. Left out there, it is filled "
        "with its defaults.",
        default=None,
        only_with=("compute.launcher", "kubernetes"),
    )

    @model_validator(mode="before")
    @classmethod
    def _with_its_section(cls, document: Any) -> Any:
        """Fill the defaults of the section in, as of every other; a null is no value here either."""
        if not isinstance(document, dict):
            return document
        compute = document.get("compute")
        is_asked = isinstance(compute, dict) and compute.get("launcher") == "kubernetes"
        if "kubernetes" not in document:
            return document | {"kubernetes": {}} if is_asked else document
        if document["kubernetes"] is None:
            raise ValueError("kubernetes is null: leave the section out, or give a table of fields")
        return document

    @model_serializer(mode="wrap")
    def _without_what_is_absent(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        written: dict[str, Any] = write(self)
        if written.get("kubernetes") is None:
            written.pop("kubernetes", None)
        return written
