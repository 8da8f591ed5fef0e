"""The run config: a typed document, named by the digest of its canonical form."""

from typing import Annotated, Literal

from pydantic import Field

from safehold.config.base import Section, Text, describe
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
